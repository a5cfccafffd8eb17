import sys

print("before", end="")
sys.exit(True)
