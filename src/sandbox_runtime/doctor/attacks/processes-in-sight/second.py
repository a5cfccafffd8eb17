import os

import probe

others = [pid for pid in probe.processes() if pid not in (1, os.getpid())]
probe.escaped(f"{len(others)} processes of others are in sight") if others else probe.held("init and itself, nobody else")
