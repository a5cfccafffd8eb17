java.io.File("input.txt").copyTo(java.io.File("output.txt"))
