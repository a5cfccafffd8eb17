import atexit
import sys

atexit.register(lambda: print("at exit"))
print("before", flush=True)
sys.modules.clear()
