#include <catch2/catch.hpp>
#include <cstdio>
#include <string>

TEST_CASE("prints") {
    for (int line = 0; line < 50000; line++) std::puts(std::string(99, 'x').c_str());
}
