__global__ void turn(volatile int *number) {
    while (*number == 0) {}
}

int main() {
    int *number = nullptr;
    cudaMalloc(&number, sizeof *number);
    cudaMemset(number, 0, sizeof *number);
    turn<<<1, 1>>>(number);
    return cudaDeviceSynchronize() != cudaSuccess;
}
