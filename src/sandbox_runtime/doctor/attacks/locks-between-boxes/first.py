import fcntl
import os
import sys

import probe

held = []
for path in ("/usr/bin/env", "/usr/lib", "/etc/passwd", "/etc/ld.so.cache", os.path.realpath(sys.executable), "/", "/etc"):
    held.append(os.open(path, os.O_RDONLY))
    fcntl.flock(held[-1], fcntl.LOCK_EX)
    if not os.path.isdir(path):
        fcntl.lockf(os.open(path, os.O_RDONLY), fcntl.LOCK_SH)
probe.ready()
probe.wait_for_other()
