import math
from decimal import Decimal
from fractions import Fraction


def tower(n):
    return 10**n


def exact(a, b):
    return Decimal(a) / Decimal(b), Fraction(a, b)


def edges():
    return [float("inf"), -float("inf"), float("nan"), -0.0, 1e-320]


def turned(z):
    return z * 1j


def both():
    return True, 1, 1.0


def coded(text):
    return text.encode(), bytearray(text.encode()), memoryview(text.encode()).tobytes()
