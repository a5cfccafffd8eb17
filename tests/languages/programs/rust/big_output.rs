fn main() {
    for _ in 0..50000 {
        println!("{}", "x".repeat(99));
    }
}
