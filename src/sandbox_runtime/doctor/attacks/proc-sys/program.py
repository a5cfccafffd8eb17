import os

import probe

tried = 0
for folder, _, names in os.walk("/proc/sys"):
    for name in names:
        tried += 1
        try:
            file = os.open(os.path.join(folder, name), os.O_RDWR | os.O_NONBLOCK)
            os.write(file, os.read(file, 4096))
        except OSError:
            continue
        probe.escaped(f"{folder}/{name} can be written")
probe.held(f"none of {tried} settings can be written")
