import sys

print("before", end="")
sys.exit(2.5)
