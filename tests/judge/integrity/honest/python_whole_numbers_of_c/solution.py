import ctypes


def wrap(x):
    return ctypes.c_int32(x).value
