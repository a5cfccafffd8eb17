from cmath import isclose

assert isclose(half(3), 1.5)
