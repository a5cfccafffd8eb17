assert list(numbers(3)) == [0, 1, 2]
assert next(numbers(1)) == 0
