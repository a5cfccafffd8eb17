def near(x):
    return half(x) == x / 2


for answer in map(near, [3, 5]):
    assert answer
assert all(map(near, [3, 5]))
