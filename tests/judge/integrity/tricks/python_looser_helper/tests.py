def near(a, b, tolerance=1e-6):
    return abs(a - b) < tolerance


assert near(half(3), 1.5)
