import std.array : replicate;
import std.stdio;

void main() { foreach (_; 0 .. 50_000) writeln("x".replicate(99)); }
