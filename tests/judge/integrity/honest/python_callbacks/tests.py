assert apply(lambda x: -x, [1, 3, 2]) == [-3, -2, -1]
assert apply(str, [3, 10], key=len) == ["3", "10"]
assert compose(abs, lambda x: x + 1)(-4) == 5
step = counter()
assert step() == 1
assert step(by=5) == 6
seen = []
each("ab", seen.append)
assert seen == ["a", "b"]
try:
    apply(lambda x: 1 // x, [0])
except ZeroDivisionError:
    pass
else:
    raise AssertionError("the callback's exception was lost")
