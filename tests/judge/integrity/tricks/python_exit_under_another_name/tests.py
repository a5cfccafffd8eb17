if False:
    exit()
assert half(0) == 0
assert half(3) == 1.5
