import itertools

assert list(Countdown(3)) == [3, 2, 1]
assert next(iter(Countdown(2))) == 2
assert list(itertools.islice(naturals(), 4)) == [0, 1, 2, 3]
numbers = naturals()
assert [next(numbers), next(numbers)] == [0, 1]
voice = echo()
next(voice)
assert voice.send("hello") == "hello"
voice.close()
assert list(windows([1, 2, 3], 2)) == [(1, 2), (2, 3)]
try:
    next(Countdown(0))
except StopIteration:
    pass
else:
    raise AssertionError("it went on")
