def check(candidate):
    assert candidate([3, 1, 2]) == [1, 2, 3]
    assert candidate([]) == []
    assert abs(sum(candidate([0.5, 0.25])) - 0.75) < 1e-9


check(order)

assert 2 <= Tally.count <= 3
assert Tally.count == 3 == len(str(100))
assert order.__name__ == "order"
for check in (1, 2):
    assert check in (1, 2)
