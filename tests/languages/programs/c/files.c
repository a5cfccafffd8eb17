#include <stdio.h>

int main(void) {
    FILE *input = fopen("input.txt", "rb"), *output = fopen("output.txt", "wb");
    for (int letter = fgetc(input); letter != EOF; letter = fgetc(input)) fputc(letter, output);
    return fclose(output);
}
