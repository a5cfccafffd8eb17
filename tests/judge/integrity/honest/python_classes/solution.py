from abc import ABC, abstractmethod


class Shape(ABC):
    count = 0

    def __init__(self, name):
        self.name = name
        Shape.count += 1

    @abstractmethod
    def area(self): ...

    @property
    def label(self):
        return f"{self.name}: {self.area():.1f}"

    @classmethod
    def unit(cls):
        return cls(1)

    @staticmethod
    def units():
        return "cm"


class Square(Shape):
    def __init__(self, side):
        super().__init__("square")
        self._side = side

    @property
    def side(self):
        return self._side

    @side.setter
    def side(self, side):
        if side < 0:
            raise ValueError(f"negative side: {side}")
        self._side = side

    def area(self):
        return self._side**2

    def __repr__(self):
        return f"Square({self._side})"

    def __call__(self, times):
        return Square(self._side * times)


class Vector:
    def __init__(self, *items):
        self.items = list(items)

    def __add__(self, other):
        return Vector(*(a + b for a, b in zip(self.items, other.items)))

    def __mul__(self, factor):
        return Vector(*(item * factor for item in self.items))

    __rmul__ = __mul__

    def __eq__(self, other):
        return isinstance(other, Vector) and self.items == other.items

    def __hash__(self):
        return hash(tuple(self.items))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, place):
        return self.items[place]

    def __setitem__(self, place, item):
        self.items[place] = item

    def __contains__(self, item):
        return item in self.items

    def __bool__(self):
        return any(self.items)

    def __lt__(self, other):
        return self.items < other.items
