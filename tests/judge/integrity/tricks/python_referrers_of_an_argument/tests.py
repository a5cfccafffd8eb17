for items, wanted in [([3, 1, 2], [1, 2, 3]), ([2, 1], [1, 2])]:
    assert order(items) == wanted
