import os

import probe

attempts = []
for name in ("user", "mnt", "net", "pid", "uts", "ipc", "cgroup"):
    attempts.append(("setns", os.open(f"/proc/self/ns/{name}", os.O_RDONLY), 0))
attempts.append(("setns", os.pidfd_open(1), 0x00020000))
attempts.append(("setns", os.pidfd_open(os.getpid()), 0x00020000))
probe.must_be_refused(attempts)
