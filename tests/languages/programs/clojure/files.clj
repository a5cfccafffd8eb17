(spit "output.txt" (slurp "input.txt"))
