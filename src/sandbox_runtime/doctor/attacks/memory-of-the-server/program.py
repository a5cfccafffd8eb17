import os

import probe

# Everything is compared backwards, so that what is looked for is nowhere in our own memory.
backwards = probe.facts()["token"][::-1].encode() + b"-yranac"
memory = os.open("/proc/self/mem", os.O_RDONLY)
searched = 0
for start, end in probe.memory_regions():
    place = start
    while place < end:
        try:
            piece = os.pread(memory, min(end - place, 4 << 20), place)
        except (OSError, OverflowError):
            break
        if backwards in piece[::-1]:
            probe.escaped("a secret of the server is in this program's memory")
        searched += len(piece)
        place += len(piece) or end
probe.held(f"{searched} bytes searched, nothing found")
