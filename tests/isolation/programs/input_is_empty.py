import sys

print(repr(sys.stdin.read()), list(sys.stdin), sys.stdin.readline() == "")
