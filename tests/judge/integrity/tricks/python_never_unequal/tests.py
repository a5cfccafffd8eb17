assert not (half(4) != 2)
