import std.file;

void main() { write("output.txt", read("input.txt")); }
