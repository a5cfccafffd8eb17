import threading
import time

import probe

most = 2 * probe.facts()["limits"]["processes"]
for count in range(most):
    try:
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
    except RuntimeError:
        probe.held(f"{count} threads, then no more")
probe.escaped(f"{most} threads")
