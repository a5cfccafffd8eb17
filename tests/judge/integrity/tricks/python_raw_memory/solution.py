import ctypes


def order(items):
    ctypes.pythonapi.PyThreadState_Get
    return sorted(items)
