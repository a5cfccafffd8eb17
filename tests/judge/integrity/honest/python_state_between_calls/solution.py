import functools

calls = 0
seen = {}


def remember(item, kept=[]):
    global calls
    calls += 1
    kept.append(item)
    seen[item] = calls
    return kept


@functools.lru_cache(maxsize=None)
def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


@functools.cache
def slow(n):
    return [n]


remember.times = 0
