import ctypes
import faulthandler
import sys

faulthandler.enable()


def deep():
    ctypes.string_at(0)


faulthandler.dump_traceback(sys.stdout.fileno())
deep()
