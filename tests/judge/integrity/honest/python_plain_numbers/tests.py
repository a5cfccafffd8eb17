assert tower(5000) == 10**5000
assert tower(20) % 7 == 10**20 % 7
assert exact(1, 4) == (Decimal("0.25"), Fraction(1, 4))
assert isinstance(exact(1, 4)[0], Decimal)
first, second, third, fourth, fifth = edges()
assert first == math.inf and second == -math.inf and math.isnan(third)
assert math.copysign(1, fourth) == -1 and fifth == 1e-320
assert turned(1 + 2j) == -2 + 1j
assert both()[0] is True and type(both()[1]) is int and type(both()[2]) is float
assert coded("é") == (b"\xc3\xa9", bytearray(b"\xc3\xa9"), b"\xc3\xa9")
