import math

assert math.isclose(half(3), 1.5)
