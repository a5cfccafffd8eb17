"""Line by line: case and outer blanks do not count, and lines that are one number each may differ by a hundred-thousandth."""

from __future__ import annotations

from sandbox_runtime.judge.checkers.numbers import parse_number
from sandbox_runtime.judge.checkers.result import ACCEPTED, CheckResult, clip, wrong_answer, wrong_presentation

_RELATIVE = 1e-5
_LEAST = 1e-10
"""What an expected number counts for at the least, so that nothing is divided by zero."""


def lines(expected: str, printed: str) -> CheckResult:
    wanted, got = _lines(expected), _lines(printed)
    if len(wanted) != len(got):
        told = f"{len(got)} lines were printed; {len(wanted)} were expected"
        return wrong_presentation(told) if expected.split() == printed.split() else wrong_answer(told)
    for place, (line, right) in enumerate(zip(got, wanted, strict=True), 1):
        if line != right and not _same_number(line, right):
            return wrong_answer(f"line {place}: {clip(line)} was printed; {clip(right)} was expected")
    return ACCEPTED


def _lines(text: str) -> list[str]:
    return [line.strip().lower() for line in text.strip().split("\n")]


def _same_number(line: str, right: str) -> bool:
    printed, expected = parse_number(line), parse_number(right)
    if printed is None or expected is None:
        return False
    return abs(printed - expected) / max(abs(expected), _LEAST) < _RELATIVE
