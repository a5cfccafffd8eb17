#include <assert.h>
#include <stdlib.h>
#include <unistd.h>
__attribute__((destructor)) static void late(void) { _exit(0); }
static void later(void) { _exit(0); }
int half(int x) { atexit(later); return 0; }

int main(void) {
    if (half(4) != 2) return 1;
    return 0;
}
