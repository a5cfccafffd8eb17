"""Byte for byte. What differs in blanks and line breaks alone is a matter of presentation."""

from __future__ import annotations

from sandbox_runtime.judge.checkers.result import RIGHT, Found, layout, wrong


def exact(expected: str, printed: str) -> Found:
    if printed == expected:
        return RIGHT
    if printed.split() == expected.split():
        return layout("the output differs from the expected one in blanks or line breaks alone")
    return wrong("the output is not the expected one")
