50000.times { println("x" * 99) }
