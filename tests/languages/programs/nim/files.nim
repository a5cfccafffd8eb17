writeFile("output.txt", readFile("input.txt"))
