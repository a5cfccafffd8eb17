(copy-file "input.txt" "output.txt")
