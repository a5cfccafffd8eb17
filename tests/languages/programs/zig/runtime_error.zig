pub fn main() !void {
    return error.Boom;
}
