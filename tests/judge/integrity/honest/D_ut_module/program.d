module halves;

import std.stdio;

int half(int x) { return x / 2; }

shared static this() { writeln("begun"); }
shared static ~this() { writeln("over"); }

unittest
{
    assert(half(4) == 2);
}

unittest
{
    assert(half(0) == 0);
}

void main() {}
