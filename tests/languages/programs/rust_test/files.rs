#[test]
fn copies() {
    std::fs::copy("input.txt", "output.txt").unwrap();
}
