import sys
import weakref


class Noisy:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("del", self.name)


sys.noisy = Noisy("in sys")
weakref.finalize(sys.noisy, print, "finalizer of sys.noisy")
print("end of main")
