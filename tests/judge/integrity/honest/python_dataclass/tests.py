assert make(1) == Point(1)
assert make(1) != Point(2)
assert make(1) < Point(2)
assert [make(1)] == [Point(1)]
assert sorted([make(2), make(1)])[0].x == 1
