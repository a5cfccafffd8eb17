import os
import sys
import time

children_of = os.getpid()
while True:
    try:
        os.fork()
    except OSError:
        if os.getpid() == children_of:
            sys.exit("no more")
        time.sleep(60)
