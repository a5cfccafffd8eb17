assert 2 == half(4) == 2
