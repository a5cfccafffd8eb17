import os

import probe

others = [pid for pid in probe.processes() if pid not in (1, os.getpid())]
probe.escaped(f"processes {others} outlived their command") if others else probe.held("nobody outlived the command")
