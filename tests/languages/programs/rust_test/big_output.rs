// A failing test shows what it printed.
#[test]
fn prints() {
    for _ in 0..50000 {
        println!("{}", "x".repeat(99));
    }
    panic!("shown");
}
