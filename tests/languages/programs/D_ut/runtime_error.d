unittest { assert(1 + 1 == 3); }

void main() {}
