#include <iostream>
#include <string>

int main() {
    for (int i = 0; i < 50000; i++) std::cout << std::string(99, 'x') << '\n';
}
