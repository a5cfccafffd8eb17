import os

import probe

GETPID, UNSHARE = 20, 310
child = os.fork()
if child == 0:
    results = [probe.i386_call(GETPID), probe.i386_call(UNSHARE)]
    os._exit(0 if all(result < 0 for result in results) else 1)
status = os.waitpid(child, 0)[1]
# A kernel without this gate ends the program with a signal.
probe.escaped("a 32-bit call was answered") if status == 256 else probe.held("no 32-bit call is answered")
