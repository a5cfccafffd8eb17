use std::fmt;

#[derive(Debug)]
struct Wrong;

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "wrong")
    }
}

impl std::error::Error for Wrong {}

fn half(x: i32) -> Result<i32, Wrong> {
    if x < 0 { Err(Wrong) } else { Ok(x / 2) }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    assert_eq!(half(4)?, 2);
    assert!(half(-1).is_err());
    Ok(())
}
