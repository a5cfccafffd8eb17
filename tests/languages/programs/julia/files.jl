cp("input.txt", "output.txt")
