import os
import signal

import probe

found = probe.facts()
for pid in (found["process"], found["server"]):
    probe.must_fail("a process of the host took a signal", os.kill, pid, signal.SIGTERM)
    probe.must_fail("a process of the host has a descriptor here", os.pidfd_open, pid)
    probe.must_fail("a process of the host can be listed", os.listdir, f"/proc/{pid}")
    probe.must_fail("the session of a process of the host is known", os.getsid, pid)
probe.held("the numbers mean nothing here")
