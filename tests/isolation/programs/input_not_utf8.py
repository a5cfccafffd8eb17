#: {"stdin_hex": "fffe0a80"}
import sys

print(ascii(sys.stdin.read()))
