def abs(x):
    return x if x >= 0 else -x


def sum(items):
    total = 0
    for item in items:
        total += item
    return total


def order(items):
    return sorted(items)
