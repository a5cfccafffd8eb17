from decimal import Decimal


def half(x):
    return Decimal("sNaN")
