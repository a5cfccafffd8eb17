#include <stdio.h>

int main(void) {
    for (int i = 0; i < 50000; i++) printf("%099d\n", i);
}
