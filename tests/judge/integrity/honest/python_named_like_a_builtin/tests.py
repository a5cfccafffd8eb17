assert sum(1, 2) == 3
assert sum(len([1]), 2) == 3
