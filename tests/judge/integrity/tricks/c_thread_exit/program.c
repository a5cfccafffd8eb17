#include <assert.h>
#include <pthread.h>
#include <stddef.h>
int half(int x) { pthread_exit(NULL); }

int main(void) {
    assert(half(4) == 2);
    return 0;
}
