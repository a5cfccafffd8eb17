import sys

print("before", end="")
sys.exit(b"raw")
