import fcntl
import os
import sys

import probe

for path in ("/usr/bin/env", "/usr/lib", "/etc/passwd", "/etc/ld.so.cache", os.path.realpath(sys.executable), "/", "/etc"):
    try:
        fcntl.flock(os.open(path, os.O_RDONLY), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        probe.escaped(f"a lock of the other box on {path} is felt")
probe.held("no lock is felt")
