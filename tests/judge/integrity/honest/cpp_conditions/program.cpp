#include <cassert>
int half(int x) { return x / 2; }

int main() {
#ifdef NEVER
    if (half(0)) {
#else
    if (half(4)) {
#endif
        assert(half(4) == 2);
    }
}
