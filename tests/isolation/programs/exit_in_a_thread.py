import sys
import threading


def work():
    print("thread")
    sys.exit(3)


thread = threading.Thread(target=work)
thread.start()
thread.join()
print("main goes on")
