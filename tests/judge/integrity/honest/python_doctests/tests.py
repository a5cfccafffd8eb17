def check(candidate):
    assert candidate([3, 1, 2]) == [1, 2, 3]
    assert candidate([]) == []
    assert abs(sum(candidate([0.5, 0.25])) - 0.75) < 1e-9


check(order)
