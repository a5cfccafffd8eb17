int main() {
  for (int row = 0; row < 50000; row++) write("x" * 99 + "\n");
  return 0;
}
