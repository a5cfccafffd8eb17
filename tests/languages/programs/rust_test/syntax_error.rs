#[test]
fn never() {
