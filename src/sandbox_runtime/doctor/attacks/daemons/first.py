import os
import signal
import time

import probe

for number in range(4):
    if os.fork() == 0:
        os.setsid()
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        if os.fork():
            os._exit(0)
        if number % 2:
            os.setpgid(0, 0)
        time.sleep(60)
probe.ready()
