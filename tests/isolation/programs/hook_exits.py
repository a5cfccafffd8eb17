import sys


def hook(kind, error, trace):
    sys.exit(6)


sys.excepthook = hook
raise KeyError("first")
