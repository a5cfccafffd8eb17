import atexit
import sys
import traceback


class Noisy:
    def __del__(self):
        print("del", len(traceback.extract_stack()))


def at_exit():
    print("atexit", [frame.name for frame in traceback.extract_stack()])


kept = Noisy()
atexit.register(at_exit)
sys.excepthook = lambda *found: print("hook", [frame.name for frame in traceback.extract_stack()], found[0])
raise ValueError
