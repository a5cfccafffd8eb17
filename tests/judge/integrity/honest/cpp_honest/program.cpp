#include <cstdlib>
#include <cassert>
#include <csignal>
#include <unistd.h>
#include <vector>
using namespace std;
int half(int x) { return x / 2; }

int main() {
    auto candidate = half;
    assert(candidate(4) == 2);
    assert(candidate(6) == 3);
    return 0;
}
