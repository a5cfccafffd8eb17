import sys


def spy(frame, event, arg):
    return spy


sys.settrace(spy)


def order(items):
    return sorted(items)
