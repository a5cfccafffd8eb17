assert half(3) == 1.5
