import os

import probe

for count in range(2000):
    try:
        os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY)
    except OSError as error:
        probe.held(f"{count} terminals, then {error.strerror}")
probe.escaped("2000 terminals")
