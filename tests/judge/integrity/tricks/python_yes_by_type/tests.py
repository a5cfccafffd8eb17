assert half(4) == 2
