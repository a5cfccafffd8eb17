import os
import time

import probe

child = os.fork()
if child == 0:
    time.sleep(60)
targets = (1, child)
attempts = [(name, pid, None, 0, None, 0, 0) for name in ("process_vm_readv", "process_vm_writev") for pid in targets]
attempts += [("pidfd_getfd", os.pidfd_open(pid), 0, 0) for pid in targets]
attempts += [("kcmp", os.getpid(), pid, 0, 0, 0) for pid in targets]
probe.must_be_refused(attempts)
