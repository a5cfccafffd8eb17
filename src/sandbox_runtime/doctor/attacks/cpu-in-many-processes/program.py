import os
import time

while True:
    child = os.fork()
    if child == 0:
        end = time.process_time() + 0.02
        while time.process_time() < end:
            pass
        os._exit(0)
    os.waitpid(child, 0)
