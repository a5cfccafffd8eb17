#: {"stdin": "first\nsecond line\nthird\nlast without newline"}
import sys

print(input("prompt> "))
print(sys.stdin.readline())
print(list(sys.stdin))
try:
    input()
except EOFError as error:
    print(repr(error))
print(repr(sys.stdin.read()))
input("once more")
