"output.txt".IO.spurt("input.txt".IO.slurp);
