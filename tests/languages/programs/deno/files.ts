await Deno.copyFile("input.txt", "output.txt");
