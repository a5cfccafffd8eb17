assert half(4) == 2
assert abs(half(6) - 3) <= 1e-6
assert round(half(5), 1) == 2.5
