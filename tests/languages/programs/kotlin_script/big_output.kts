repeat(50_000) { println("x".repeat(99)) }
