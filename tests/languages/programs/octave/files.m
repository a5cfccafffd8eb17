copyfile("input.txt", "output.txt");
