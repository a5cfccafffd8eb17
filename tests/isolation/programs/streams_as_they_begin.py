import sys

for stream in (sys.stdin, sys.stdout, sys.stderr):
    print(stream, stream.encoding, stream.errors, stream.newlines, stream.line_buffering, stream.write_through)
    print(stream.fileno(), stream.isatty(), type(stream.buffer), stream.mode, stream.name, stream.closed)
print(sys.stdin is sys.__stdin__, sys.stdout is sys.__stdout__, sys.stderr is sys.__stderr__)
