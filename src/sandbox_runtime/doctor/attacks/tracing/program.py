import os
import time

import probe

child = os.fork()
if child == 0:
    time.sleep(60)
TRACEME, ATTACH, SEIZE = 0, 16, 0x4206
probe.must_be_refused(
    [("ptrace", ATTACH, 1, 0, 0), ("ptrace", SEIZE, 1, 0, 0), ("ptrace", ATTACH, child, 0, 0), ("ptrace", TRACEME, 0, 0, 0)]
)
