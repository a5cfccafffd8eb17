#include <assert.h>
#include <stdlib.h>
int half(int x) { return x / 2; }

int main(void) {
    assert(half(4) == 2);
    return 0;
}
