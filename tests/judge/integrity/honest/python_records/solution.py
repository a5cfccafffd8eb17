from dataclasses import asdict, dataclass, field, replace
from enum import Enum, Flag, auto
from typing import NamedTuple, TypedDict


class Color(Enum):
    RED = "red"
    BLUE = "blue"


class Right(Flag):
    READ = auto()
    WRITE = auto()


class Place(NamedTuple):
    x: int
    y: int = 0


class Movie(TypedDict):
    name: str


@dataclass(frozen=True)
class Car:
    color: Color
    place: Place = Place(0)
    tags: list = field(default_factory=list)


def build(name):
    return Car(Color(name), Place(1, 2), ["new"])


def moved(car, x):
    return replace(car, place=Place(x))


def movie(name) -> Movie:
    return {"name": name}
