int main() {
  Stdio.write_file("output.txt", Stdio.read_file("input.txt"));
  return 0;
}
