def order(items):
    """
    >>> order([2, 1])
    [1, 2]
    """
    return sorted(items)


if __name__ == "__main__":
    import doctest

    doctest.testmod()
