import sys

sys.stdout.reconfigure(encoding="latin-1", errors="replace", newline="\r\n")
print("ünï ✓")
sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")
print("raw \udcff byte")
sys.stdout.buffer.write(b"\xff\x00bytes\n")
print("strict \ud800 surrogate", file=sys.stderr)
sys.stdout.reconfigure(errors="strict")
print("\ud800")
