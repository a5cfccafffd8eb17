class Odd(Exception):
    def __str__(self):
        raise ValueError("no words")


class OddName(Exception):
    pass


OddName.__module__ = "elsewhere"
OddName.__qualname__ = "Outer.Odd"
try:
    raise Odd
except Odd:
    raise OddName(Odd()) from None
