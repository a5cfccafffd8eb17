assert abs(half(3) - 1.5) < 1e-6
