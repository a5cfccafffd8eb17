result = order([3, 1, 2])
assert len(result) == 3
assert result == [1, 2, 3] and type(result) is list
