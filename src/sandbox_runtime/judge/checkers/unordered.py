"""The same lines, in any order; blanks at their ends and empty lines do not count."""

from __future__ import annotations

from collections import Counter

from sandbox_runtime.judge.checkers.result import RIGHT, Found, clipped, wrong


def unordered(expected: str, printed: str) -> Found:
    wanted, got = _lines(expected), _lines(printed)
    if wanted == got:
        return RIGHT
    missing, surplus = wanted - got, got - wanted
    if missing:
        return wrong(f"{clipped(next(iter(missing)))} was expected and not printed, or not as often")
    return wrong(f"{clipped(next(iter(surplus)))} was not expected, or not as often")


def _lines(text: str) -> Counter[str]:
    """Lines as lists of words would be slower and no more right: within a line blanks are part of the answer."""
    return Counter(line.strip() for line in text.split("\n") if line.strip())
