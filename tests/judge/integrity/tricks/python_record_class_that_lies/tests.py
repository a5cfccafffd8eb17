class Point:
    def __init__(self, x):
        self.x = x

    def __eq__(self, other):
        return self.x == other.x


assert half(Point(3)) == Point(1.5)
