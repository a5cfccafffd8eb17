fn main() {
    std::fs::copy("input.txt", "output.txt").unwrap();
}
