#include <cassert>
#include <iostream>
#include <stdexcept>
#include <thread>
int half(int x) {
    if (x < 0) throw std::invalid_argument("negative");
    return x / 2;
}

int main(int count, char **words) {
    std::thread([] { assert(half(6) == 3); }).join();
    try {
        half(-1);
        return 1;
    } catch (const std::invalid_argument &error) {
        std::cout << "} refused: " << error.what() << std::endl;
    }
    for (int i = 0; i < 3; i++) {
        if (half(4) != 2) return 1;
        if (i == 1) return 0;
    }
}
