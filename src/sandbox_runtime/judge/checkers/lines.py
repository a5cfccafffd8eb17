"""Line by line: case and outer blanks do not count, and lines that are one number each may differ by a hundred-thousandth."""

from __future__ import annotations

from sandbox_runtime.judge.checkers.numbers import number
from sandbox_runtime.judge.checkers.result import RIGHT, Found, clipped, layout, wrong

_RELATIVE = 1e-5
_LEAST = 1e-10
"""What an expected number counts for at the least, so that nothing is divided by zero."""


def lines(expected: str, printed: str) -> Found:
    wanted, got = _lines(expected), _lines(printed)
    if len(wanted) != len(got):
        told = f"{len(got)} lines were printed; {len(wanted)} were expected"
        return layout(told) if expected.split() == printed.split() else wrong(told)
    for place, (line, right) in enumerate(zip(got, wanted, strict=True), 1):
        if line != right and not _same_number(line, right):
            return wrong(f"line {place}: {clipped(line)} was printed; {clipped(right)} was expected")
    return RIGHT


def _lines(text: str) -> list[str]:
    return [line.strip().lower() for line in text.strip().split("\n")]


def _same_number(line: str, right: str) -> bool:
    printed, expected = number(line), number(right)
    if printed is None or expected is None:
        return False
    return abs(printed - expected) / max(abs(expected), _LEAST) < _RELATIVE
