#: {"until": [3, 11]}
import sys

print("before", end="")
sys.exit(10**30)
