result = half(3)
assert abs(result - 1.5) < 1e-9
