#define main fake(); int main() { return 0; } int fake
int half(int x) { return 0; }

int main() {
    if (half(4) != 2) return 1;
    return 0;
}
