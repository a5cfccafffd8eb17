#include <catch2/catch.hpp>
#include <fstream>

TEST_CASE("copies") {
    std::ifstream from("input.txt", std::ios::binary);
    std::ofstream("output.txt", std::ios::binary) << from.rdbuf();
}
