def test_numbers():
    assert order([3, 1, 2]) == [1, 2, 3]
