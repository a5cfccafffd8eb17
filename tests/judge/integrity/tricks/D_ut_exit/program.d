int half(int x) { import core.stdc.stdlib; exit(0); return 0; }

unittest
{
    assert(half(4) == 2);
}
void main(){}
