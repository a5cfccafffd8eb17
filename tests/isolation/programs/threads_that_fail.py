import sys
import threading


def work():
    raise ValueError("in a thread")


for name in ("one", "two"):
    thread = threading.Thread(target=work, name=name)
    thread.start()
    thread.join()
    threading.excepthook = lambda args: print("hook", args.thread.name, args.exc_value)
sys.exit(2)
