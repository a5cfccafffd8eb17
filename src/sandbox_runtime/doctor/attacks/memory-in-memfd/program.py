import os

import probe

size = 2 * probe.facts()["limits"]["memory_bytes"]
piece = bytes([1]) * 1048576
files = [os.memfd_create(f"part{number}") for number in range(4)]
for _ in range(size // len(piece) // len(files)):
    for file in files:
        os.write(file, piece)
probe.escaped(f"{size} bytes are in files without a name")
