#include <cstdio>

__global__ void fail() { __trap(); }

int main() {
    fail<<<1, 1>>>();
    cudaError_t error = cudaDeviceSynchronize();
    std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
    return error != cudaSuccess;
}
