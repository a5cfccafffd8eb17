assert half(3) == 1.5
assert half(5) == 2.5
