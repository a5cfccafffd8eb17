import os
import signal
import time

import probe

for _ in range(4):
    child = os.fork()
    if child == 0:
        while True:
            time.sleep(60)
    os.kill(child, signal.SIGSTOP)
probe.ready()
