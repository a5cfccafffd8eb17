def numbers(n):
    yield from range(n)
