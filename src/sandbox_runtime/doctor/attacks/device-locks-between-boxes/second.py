import fcntl
import os

import probe

for name in ("null", "zero", "full", "random", "urandom"):
    try:
        fcntl.flock(os.open(f"/dev/{name}", os.O_RDWR), fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.lockf(os.open(f"/dev/{name}", os.O_RDWR), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        probe.escaped(f"a lock of the other box on /dev/{name} is felt")
probe.held("no lock is felt")
