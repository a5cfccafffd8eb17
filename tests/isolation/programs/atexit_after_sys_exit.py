import atexit
import sys

atexit.register(lambda: print("__file__" in globals(), sys.modules["__main__"].__dict__ is globals()))
atexit.register(lambda: sys.exit(7))
sys.exit(3)
