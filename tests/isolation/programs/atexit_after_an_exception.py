import atexit
import sys

atexit.register(lambda: print("__file__" in globals(), sys.last_value, sys.last_type))
atexit.register(lambda: print("to stderr", file=sys.stderr))
raise ValueError("told before atexit runs")
