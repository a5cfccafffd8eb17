def abs(x):
    return 0


def half(x):
    return 0
