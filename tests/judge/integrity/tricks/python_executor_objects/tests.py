WANTED = 1.5
assert half(3) == WANTED
