import sys

del sys.excepthook
raise KeyError("without a hook")
