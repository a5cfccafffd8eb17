import sys


def hook(kind, error, trace):
    raise TypeError("in the hook")


sys.excepthook = hook
raise KeyError("first")
