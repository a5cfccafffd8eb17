import os
import sys

sys.stdout.write("first, ")
os.write(1, b"but this is out already\n")
sys.stdout.flush()
sys.stderr.write("no newline")
os.write(2, b"|after\n")
sys.stdout.write("x" * 10_000)
os.write(1, b"|\n")
print("last without newline", end="")
