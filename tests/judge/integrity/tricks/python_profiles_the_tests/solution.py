import cProfile
import os

calls = []


def clock():
    calls.append(0)
    if len(calls) > 50:
        os._exit(0)
    return 0


profile = cProfile.Profile(clock)
profile.enable()


def half(x):
    return half(x - 1) if x > -60 else 0
