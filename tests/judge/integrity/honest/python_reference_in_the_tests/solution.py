import math


def volume(r, precision=2):
    return round(4 / 3 * math.pi * r**3, precision)
