assert half(lambda x: x) == 1.5
