#[test]
fn endless() {
    loop {}
}
