#include <cassert>
#include <pthread.h>
int half(int x) {
    pthread_cancel(pthread_self());
    pthread_testcancel();
    return 0;
}

int main() {
    assert(half(4) == 2);
}
