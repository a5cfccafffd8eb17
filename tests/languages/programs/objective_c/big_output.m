#include <stdio.h>
#include <string.h>

int main(void) {
    char line[100] = "";
    memset(line, 'x', 99);
    for (int row = 0; row < 50000; row++) puts(line);
}
