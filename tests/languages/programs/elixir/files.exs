File.copy!("input.txt", "output.txt")
