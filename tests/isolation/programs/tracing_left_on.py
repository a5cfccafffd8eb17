import sys


def trace(frame, event, argument):
    print("trace", event, frame.f_code.co_name)
    return trace


def work():
    pass


sys.settrace(trace)
work()
