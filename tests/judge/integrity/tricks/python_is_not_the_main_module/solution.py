__name__ = "solution"


def half(x):
    return 0
