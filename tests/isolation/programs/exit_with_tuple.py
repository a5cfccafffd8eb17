import sys

print("before", end="")
sys.exit((1, "two"))
