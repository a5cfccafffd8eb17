WANTED = [1, 2, 3]
assert order([3, 1, 2]) == WANTED
