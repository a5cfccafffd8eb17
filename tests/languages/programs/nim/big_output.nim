import std/strutils

for _ in 1 .. 50_000:
  echo repeat("x", 99)
