int half(int x) { return x / 2; }

unittest
{
    assert(half(4) == 2);
}
void main(){}
