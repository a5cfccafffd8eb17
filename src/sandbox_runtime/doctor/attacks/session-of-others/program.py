import os

import probe

if os.getsid(0) != os.getpid() or os.getpgrp() != os.getpid():
    probe.escaped(f"session {os.getsid(0)} and group {os.getpgrp()} are not its own")
probe.must_fail("it has somebody's terminal", os.open, "/dev/tty", os.O_RDWR)
probe.held("a session of its own, without a terminal")
