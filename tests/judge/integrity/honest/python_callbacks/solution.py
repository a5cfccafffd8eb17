def apply(function, items, *, key=None):
    return sorted((function(item) for item in items), key=key)


def compose(*functions):
    def composed(x):
        for function in functions:
            x = function(x)
        return x

    return composed


def counter():
    count = 0

    def step(by=1):
        nonlocal count
        count += by
        return count

    return step


def each(items, found):
    for item in items:
        found(item)
