int main(void) {
    for (volatile int number = 0;; number = !number) {}
}
