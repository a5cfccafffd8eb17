import atexit
import os
import signal
import threading
import time

atexit.register(print, "at exit")


def handler(number, frame):
    print("got", signal.Signals(number).name, frame.f_globals["__name__"] if number != signal.SIGCHLD else "")


for number in (signal.SIGTERM, signal.SIGUSR1, signal.SIGINT, signal.SIGCHLD):
    signal.signal(number, handler)
os.kill(os.getpid(), signal.SIGUSR1)
os.kill(os.getpid(), signal.SIGTERM)
signal.raise_signal(signal.SIGINT)
if os.fork() == 0:
    os._exit(0)
time.sleep(0.1)
os.wait()
signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 0.01)
signal.pause()
threading.Thread(target=os.kill, args=(os.getpid(), signal.SIGUSR1)).start()
time.sleep(0.1)
signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    signal.raise_signal(signal.SIGINT)
except KeyboardInterrupt as error:
    print(repr(error))
raise KeyboardInterrupt("by hand")
