assert nothing() is None
assert nothing(1, x=2) is None
assert described(1, c=3) == (1, 2, (), 3, 4, {})
assert described(1, 5, 6, c=3, e=7) == (1, 5, (6,), 3, 4, {"e": 7})
try:
    described(1)
except TypeError as error:
    assert "c" in str(error)
else:
    raise AssertionError("an argument was missing")
thing = object()
items = [1]
assert same(items) is items
assert same(thing) is thing
assert same(Ellipsis) is ... and same(int) is int
assert same(range(3)) == range(3) and same(slice(1, 2)) == slice(1, 2)
