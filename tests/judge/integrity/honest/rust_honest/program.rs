fn half(x: i32) -> i32 {
    x / 2
}

fn main() {
    let candidate = half;
    assert_eq!(candidate(4), 2);
}
