"""Long lists of tuples that hold few objects over and over, such as all combinations of some words: each object once, and a
number for each place."""

from __future__ import annotations

import itertools
from array import array
from base64 import b64decode, b64encode
from typing import Any

_MIN_ROWS = 10_000
_SCALARS = frozenset({type(None), bool, int, float, str})
_CODES = (("B", 1 << 8), ("H", 1 << 16))
"""Types of an array, and how many objects each can number."""


def encode_table(rows: list[Any]) -> Any:
    """The node, or None for what is no such list. rows: tuples of scalars."""
    if len(rows) < _MIN_ROWS or len(widths := set(map(len, rows))) != 1 or 0 in widths:
        return None
    flat = itertools.chain.from_iterable
    objects = dict(zip(map(id, flat(rows)), flat(rows)))  # noqa: B905
    code = next((code for code, most in _CODES if len(objects) <= most), None)
    if code is None:
        return None
    places = {key: number for number, key in enumerate(objects)}
    numbers = array(code, map(places.__getitem__, map(id, flat(rows))))
    return {"tw": [widths.pop(), list(objects.values()), code, b64encode(numbers.tobytes()).decode()]}


def decode_table(held: Any) -> list[Any]:
    width, objects, code, data = held
    if type(width) is not int or width < 1 or code not in ("B", "H") or not _SCALARS.issuperset(map(type, objects)):
        raise ValueError("malformed table")
    numbers = array(code)
    numbers.frombytes(b64decode(data))
    places = map(objects.__getitem__, numbers)
    return list(zip(*[places] * width))  # noqa: B905
