import itertools


def numbers(n):
    yield from itertools.count(1)
