import itertools


class Countdown:
    def __init__(self, start):
        self.start = start

    def __iter__(self):
        return self

    def __next__(self):
        if self.start <= 0:
            raise StopIteration
        self.start -= 1
        return self.start + 1


def naturals():
    yield from itertools.count()


def echo():
    heard = None
    while True:
        heard = yield heard


def windows(items, size):
    return zip(*(itertools.islice(items, start, None) for start in range(size)))
