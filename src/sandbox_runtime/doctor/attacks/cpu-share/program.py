import time

import probe

# The share is so small that even a busy machine gives a program more, unless something holds it back. A window in which it got
# less than its share says nothing: others may have had the processors. Then it tries again.
WINDOW_S, SLACK_S, MOST_WINDOWS = 1.0, 0.01, 12
share = probe.facts()["limits"]["cpu_cores"]
for _ in range(MOST_WINDOWS):
    used, began = time.process_time(), time.monotonic()
    while time.monotonic() < began + WINDOW_S:
        pass
    used, wall = time.process_time() - used, time.monotonic() - began
    if used > 2 * share * wall + SLACK_S:
        probe.escaped(f"{used:.3f} s of cpu in {wall:.2f} s")
    if used > 0.7 * share * wall:
        break
probe.held(f"at most its share of {share} cores: {used:.3f} s in {wall:.2f} s")
