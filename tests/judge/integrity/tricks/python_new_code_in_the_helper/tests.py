def near(a, b):
    return abs(a - b) < 1e-6


assert near(half(3), 1.5)
