import sys

print("before", end="")
sys.exit(3)
