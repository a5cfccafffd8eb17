def primes(n):
    marks = bytearray([1]) * (n + 1)
    for p in range(2, int(n**0.5) + 1):
        if marks[p]:
            marks[p * p :: p] = bytes(len(range(p * p, n + 1, p)))
    return [p for p in range(2, n + 1) if marks[p]]


def grid(n):
    return [[row * n + column for column in range(n)] for row in range(n)]


def nested(depth):
    nest = []
    for _ in range(depth):
        nest = [nest]
    return nest
