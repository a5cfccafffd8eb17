first = iter(numbers(3))
assert next(first) == 0
