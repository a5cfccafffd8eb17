#include <stdio.h>

int main(void) {
    FILE *from = fopen("input.txt", "r"), *to = fopen("output.txt", "w");
    for (int letter = getc(from); letter != EOF; letter = getc(from)) putc(letter, to);
    return fclose(to);
}
