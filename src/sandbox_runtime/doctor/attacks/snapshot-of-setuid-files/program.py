import os

import probe

with open("tool", "w", encoding="ascii") as file:
    file.write("#!/bin/sh\n")
os.mkdir("folder")
for name in ("tool", "folder"):
    os.chmod(name, 0o6777)
probe.held("setuid bits are set")
