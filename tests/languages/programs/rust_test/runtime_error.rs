#[test]
fn boom() {
    assert_eq!(3, 1 + 1);
}
