import fcntl
import os

import probe

held = []
for name in ("null", "zero", "full", "random", "urandom"):
    held.append(os.open(f"/dev/{name}", os.O_RDWR))
    fcntl.flock(held[-1], fcntl.LOCK_EX)
    fcntl.lockf(os.open(f"/dev/{name}", os.O_RDWR), fcntl.LOCK_EX)
probe.ready()
probe.wait_for_other()
