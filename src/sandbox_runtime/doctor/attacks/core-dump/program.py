import contextlib
import os
import resource
import signal

import probe

with contextlib.suppress(OSError, ValueError):
    resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
if resource.getrlimit(resource.RLIMIT_CORE) != (0, 0):
    probe.escaped("a dump was allowed")
os.kill(os.getpid(), signal.SIGSEGV)
