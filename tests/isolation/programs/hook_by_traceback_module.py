import sys
import traceback

sys.excepthook = lambda *found: traceback.print_exception(*found, file=sys.stdout)


def fails():
    local = [1, 2]
    return local[5]


fails()
