await Bun.write("output.txt", Bun.file("input.txt"));
