fn half(x: i32) -> i32 {
    x / 2
}

fn main() {}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn test_half() {
        assert_eq!(half(4), 2);
    }
}
