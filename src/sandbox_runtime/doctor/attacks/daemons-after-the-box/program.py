import os
import time

for _ in range(8):
    if os.fork() == 0:
        os.setsid()
        while True:
            try:
                if os.fork():
                    os._exit(0)
            except OSError:
                pass
            time.sleep(0.001)
time.sleep(60)
