"""Word by word, with tolerances that the problem names: numbers may differ by `absolute`, or by `relative` of the expected."""

from __future__ import annotations

from sandbox_runtime.judge.checkers.result import Found
from sandbox_runtime.judge.checkers.tokens import compared


def floats(expected: str, printed: str, *, absolute: float = 1e-6, relative: float = 1e-6) -> Found:
    return compared(expected.split(), printed.split(), absolute=absolute, relative=relative)
