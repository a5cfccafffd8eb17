import os
import time

import probe

for _ in range(40):
    child = os.fork()
    if child == 0:
        if os.fork() == 0:
            os._exit(0)
        os._exit(0)
    os.waitpid(child, 0)
for _ in range(300):
    if set(probe.processes()) <= {1, os.getpid()}:
        probe.held("init collected them all")
    time.sleep(0.01)
probe.escaped(f"{len(probe.processes())} processes are left to nobody")
