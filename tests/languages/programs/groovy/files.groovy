new File("output.txt").bytes = new File("input.txt").bytes
