assert all([order([2, 1]) == [1, 2]])
