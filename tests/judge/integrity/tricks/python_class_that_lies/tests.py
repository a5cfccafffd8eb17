result = order([3, 1, 2])
assert isinstance(result, list)
assert len(result) == 3
assert result == [1, 2, 3]
