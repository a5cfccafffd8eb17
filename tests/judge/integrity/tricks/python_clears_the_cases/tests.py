CASES = [(3, 1.5), (5, 2.5), (7, 3.5)]
for x, wanted in CASES:
    assert half(x) == wanted
