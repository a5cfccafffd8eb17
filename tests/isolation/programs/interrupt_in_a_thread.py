import _thread
import threading
import time


def interrupt():
    time.sleep(0.05)
    _thread.interrupt_main()


threading.Thread(target=interrupt).start()
try:
    while True:
        time.sleep(0.01)
except KeyboardInterrupt:
    print("interrupted")
