import time

import probe

WINDOW_S = 0.4
share = probe.facts()["limits"]["cpu_cores"]
end = time.monotonic() + 2 * WINDOW_S
while time.monotonic() < end:
    used, began = time.process_time(), time.monotonic()
    while time.monotonic() < began + WINDOW_S:
        pass
    used, wall = time.process_time() - used, time.monotonic() - began
    if used > 2 * share * wall + 0.02:
        probe.escaped(f"{used:.2f} s of cpu in {wall:.2f} s")
probe.held(f"at most its share of {share} cores")
