#include <cstdio>

int main() {
    FILE *from = std::fopen("input.txt", "r"), *to = std::fopen("output.txt", "w");
    for (int letter = std::getc(from); letter != EOF; letter = std::getc(from)) std::putc(letter, to);
    return std::fclose(to);
}
