assert all(order([n, 1]) == [1, n] for n in (2, 3))
