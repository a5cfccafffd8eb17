import threading
import time


def work():
    while True:
        started.set()
        time.sleep(0.001)


started = threading.Event()
threading.Thread(target=work, daemon=True).start()
started.wait()
print("end of main")
