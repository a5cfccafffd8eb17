WANTED = 1.5
assert apply(lambda x: x / 2, 3) == WANTED
