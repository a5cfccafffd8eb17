#include <fstream>

int main() {
    std::ofstream("output.txt") << std::ifstream("input.txt").rdbuf();
}
