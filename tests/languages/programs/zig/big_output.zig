const std = @import("std");

pub fn main() !void {
    const line = "x" ** 99 ++ "\n";
    for (0..50_000) |_| try std.fs.File.stdout().writeAll(line);
}
