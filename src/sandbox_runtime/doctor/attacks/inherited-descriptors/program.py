import os

import probe

foreign = {}
for number in range(4096):
    try:
        target = os.readlink(f"/proc/self/fd/{number}")
    except OSError:
        continue
    if number > 2 or not target.startswith("pipe:"):
        foreign[number] = target
probe.escaped(f"descriptors {foreign}") if foreign else probe.held("three pipes, nothing else")
