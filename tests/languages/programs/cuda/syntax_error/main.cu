__global__ void broken( {}

int main() {}
