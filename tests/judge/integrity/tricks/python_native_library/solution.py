import ctypes


def order(items):
    ctypes.cast(id(items), ctypes.POINTER(ctypes.c_long))
    return sorted(items)
