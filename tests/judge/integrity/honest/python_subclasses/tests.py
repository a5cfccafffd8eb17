assert Pair(1, 2) == (1, 2)
assert Color.RED == 1
assert pile() == [1]
assert Counter("aab") == {"a": 2, "b": 1}
assert Fraction(1, 2) == 0.5
assert Decimal("1.5") == 1.5
assert OrderedDict(a=1) == {"a": 1}
assert deque([1]) == deque([1])
assert defaultdict(int, a=1) == {"a": 1}
assert abs(Fraction(1, 3) - 0.3333) < 1e-3
