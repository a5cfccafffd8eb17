const std = @import("std");

pub fn main() !void {
    var allocator: std.heap.GeneralPurposeAllocator(.{}) = .init;
    defer _ = allocator.deinit();
    var numbers: std.ArrayList(u64) = .empty;
    defer numbers.deinit(allocator.allocator());
    var seen = std.AutoHashMap(u64, u64).init(allocator.allocator());
    defer seen.deinit();
    var input_buffer: [4096]u8 = undefined;
    var input = std.fs.File.stdin().reader(&input_buffer);
    while (input.interface.takeDelimiterExclusive('\n')) |line| {
        const number = std.fmt.parseInt(u64, std.mem.trim(u8, line, " "), 10) catch continue;
        try numbers.append(allocator.allocator(), number);
        try seen.put(number, number);
    } else |_| {}
    std.mem.sort(u64, numbers.items, {}, std.sort.asc(u64));
    var output_buffer: [4096]u8 = undefined;
    var output = std.fs.File.stdout().writer(&output_buffer);
    for (numbers.items) |number| try output.interface.print("{d} {d:.3}\n", .{ number, @as(f64, @floatFromInt(number)) });
    try output.interface.flush();
    std.debug.print("{s}\n", .{"done"});
}
