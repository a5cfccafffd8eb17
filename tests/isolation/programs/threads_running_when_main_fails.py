import threading
import time


def work():
    time.sleep(0.1)
    print("after the traceback")


threading.Thread(target=work).start()
raise ValueError("main failed first")
