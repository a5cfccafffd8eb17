import sys

print("before", end="")
sys.exit("last words ünï")
