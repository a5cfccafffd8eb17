import sys

seen = []


def trace(frame, event, argument):
    seen.append((frame.f_code.co_name, event))
    return trace


def work():
    return 1


sys.settrace(trace)
work()
sys.settrace(None)
sys.setprofile(lambda frame, event, argument: seen.append((frame.f_code.co_name, event)))
work()
sys.setprofile(None)
print(seen)
