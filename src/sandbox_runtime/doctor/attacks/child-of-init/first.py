import os
import time

import probe

CLONE_PARENT, SIGCHLD = 0x8000, 17
child = probe.call("clone", CLONE_PARENT | SIGCHLD, 0, 0, 0, 0)
if child == 0:
    time.sleep(60)
    os._exit(0)
if child < 0:
    raise SystemExit(probe.result_text(child))
probe.ready()
