BEGIN { while ((getline line < "input.txt") > 0) print line > "output.txt" }
