class TooSmall(ValueError):
    pass


def root(x):
    if not isinstance(x, (int, float)):
        raise TypeError("a number is needed")
    if x < 0:
        raise ValueError("negative")
    if x == 0:
        raise TooSmall("zero", 0)
    return x**0.5


def looked_up(key):
    try:
        return {}[key]
    except KeyError as error:
        raise LookupError(f"no {key}") from error


def failing():
    assert False, "never"
