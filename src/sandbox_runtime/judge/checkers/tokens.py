"""Word by word: blanks, line breaks and case do not count, and numbers may differ by a hundred-thousandth."""

from __future__ import annotations

from sandbox_runtime.judge.checkers.numbers import close, number
from sandbox_runtime.judge.checkers.result import RIGHT, Found, clipped, wrong

_ABSOLUTE = 1e-5


def tokens(expected: str, printed: str) -> Found:
    return compared(expected.lower().split(), printed.lower().split(), absolute=_ABSOLUTE, relative=0.0)


def compared(wanted: list[str], got: list[str], *, absolute: float, relative: float) -> Found:
    if len(wanted) != len(got):
        return wrong(f"{len(got)} words were printed; {len(wanted)} were expected")
    for place, (word, right) in enumerate(zip(got, wanted, strict=True), 1):
        if word != right and not _close(word, right, absolute, relative):
            return wrong(f"word {place}: {clipped(word)} was printed; {clipped(right)} was expected")
    return RIGHT


def _close(word: str, right: str, absolute: float, relative: float) -> bool:
    printed, expected = number(word), number(right)
    return printed is not None and expected is not None and close(printed, expected, absolute=absolute, relative=relative)
