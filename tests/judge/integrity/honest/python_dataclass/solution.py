from __future__ import annotations

from dataclasses import dataclass


@dataclass(order=True)
class Point:
    x: int
    y: int = 0


def make(x):
    return Point(x)
