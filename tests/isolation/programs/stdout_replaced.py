import io
import sys


class Loud(io.TextIOBase):
    def write(self, text):
        sys.__stdout__.write(text.upper())
        return len(text)

    def flush(self):
        sys.__stderr__.write("flushed\n")


sys.stdout = Loud()
print("quiet words")
