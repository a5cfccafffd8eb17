def nothing(*items, **named):
    pass


def described(a, /, b=2, *rest, c, d=4, **named):
    return a, b, rest, c, d, named


def same(item):
    return item
