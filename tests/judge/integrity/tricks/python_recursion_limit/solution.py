import sys


def half(x):
    sys.setrecursionlimit(max(len("x" * 30), 30))
    return half(x)
