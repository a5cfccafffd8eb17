#include <catch2/catch.hpp>

TEST_CASE("endless") {
    for (volatile int turns = 0;; turns = turns + 1) {
    }
}
