assert list(halves([3, 5])) == [1.5, 2.5]
