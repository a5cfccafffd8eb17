import sys


def hook(kind, error, trace):
    print("hook", kind.__name__, error, trace.tb_frame.f_code.co_name, trace.tb_next, trace.tb_lineno)


class Bad:
    def __del__(self):
        raise ValueError("in del")


sys.excepthook = hook
sys.unraisablehook = lambda info: print("unraisable", info.exc_type.__name__, info.exc_value, info.err_msg)
Bad()
raise KeyError("told by the hook")
