assert half(3) == 1.5
assert abs(half(5) - 2.5) < 1e-9
