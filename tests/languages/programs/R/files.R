writeLines(readLines("input.txt"), "output.txt")
