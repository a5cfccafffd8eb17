import os
import signal

import probe

signal.signal(signal.SIGTERM, signal.SIG_IGN)
found = probe.facts()
for target in (-1, -found["process"], -found["server"]):
    try:
        os.kill(target, signal.SIGTERM)
        if target != -1:
            probe.escaped(f"group {-target} of the host took a signal")
    except OSError:
        continue
probe.held("nobody outside was reached")
