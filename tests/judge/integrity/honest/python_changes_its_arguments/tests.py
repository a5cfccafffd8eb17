matrix = [[1, 2], [3, 4]]
assert rotate(matrix) is None
assert matrix == [[3, 1], [4, 2]]
numbers = [0, 1, 0, 3]
alias = numbers
move_zeroes(numbers)
assert alias == [1, 3, 0, 0]
counts = {"a": 1}
assert count_into(["a", "b"], counts) is counts
assert counts == {"a": 2, "b": 1}
items = {0, 1, 2}
drop(items, {1})
assert items == {2}
buffer = bytearray(b"ab")
fill(buffer)
assert buffer == b"\xffb!"
