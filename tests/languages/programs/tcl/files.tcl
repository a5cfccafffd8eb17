file copy input.txt output.txt
