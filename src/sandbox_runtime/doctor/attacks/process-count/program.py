import os
import time

import probe

most = 2 * probe.facts()["limits"]["processes"]
for count in range(most):
    try:
        child = os.fork()
    except OSError as error:
        probe.held(f"{count} children, then {error.strerror}")
    if child == 0:
        time.sleep(60)
probe.escaped(f"{most} children")
