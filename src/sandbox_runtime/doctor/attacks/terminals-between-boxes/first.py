import os

import probe

master, terminal = os.openpty()
probe.ready(os.ttyname(terminal))
probe.wait_for_other()
