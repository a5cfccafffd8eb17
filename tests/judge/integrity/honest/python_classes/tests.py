square = Square(2)
assert square.area() == 4 and square.label == "square: 4.0"
square.side = 3
assert square.side == 3 and square.area() == 9 and repr(square) == "Square(3)"
assert isinstance(square, Shape) and issubclass(Square, Shape)
assert Square.unit().area() == 1 and Square.units() == "cm" and Shape.count >= 2
assert square(2).side == 6
try:
    square.side = -1
except ValueError as error:
    assert str(error) == "negative side: -1"
else:
    raise AssertionError("a negative side")
try:
    Shape("none")
except TypeError:
    pass
else:
    raise AssertionError("an abstract class was made")
v = Vector(1, 2)
assert v + Vector(3, 4) == Vector(4, 6) and 2 * v == v * 2
assert len(v) == 2 and v[0] == 1 and 2 in v and 5 not in v
v[0] = 7
assert v.items == [7, 2] and bool(v) and not Vector(0)
assert sorted([Vector(2), Vector(1)])[0] == Vector(1)
assert len({Vector(1), Vector(1)}) == 1
assert v != Vector(1)
