for _ in 0..<50000 { print(String(repeating: "x", count: 99)) }
