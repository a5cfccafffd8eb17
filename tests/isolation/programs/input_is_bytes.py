#: {"stdin": "a\u0000b\u00fc\r\nc\n"}
import os
import sys

print(sys.stdin.buffer.read(3), os.read(0, 2), sys.stdin.buffer.read())
