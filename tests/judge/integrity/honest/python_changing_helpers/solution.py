import functools


class Tally:
    count = 0


def counted(function):
    @functools.wraps(function)
    def call(*arguments):
        Tally.count += 1
        return function(*arguments)

    return call


@counted
def order(items):
    return sorted(items)
