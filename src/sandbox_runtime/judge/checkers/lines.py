"""Compare line by line, ignoring case and outer whitespace. Lines that are a number may differ by a hundred-thousandth."""

from __future__ import annotations

from sandbox_runtime.judge.checkers.numbers import parse_number
from sandbox_runtime.judge.checkers.result import ACCEPTED, CheckResult, clip, wrong_answer, wrong_presentation

_RELATIVE = 1e-5
_MIN_EXPECTED = 1e-10
"""Lower bound for the expected number, to avoid division by zero."""


def lines(expected: str, printed: str) -> CheckResult:
    expected_lines, printed_lines = _lines(expected), _lines(printed)
    if len(expected_lines) != len(printed_lines):
        message = f"{len(printed_lines)} lines were printed; {len(expected_lines)} were expected"
        return wrong_presentation(message) if expected.split() == printed.split() else wrong_answer(message)
    for number, (line, right) in enumerate(zip(printed_lines, expected_lines, strict=True), 1):
        if line != right and not _same_number(line, right):
            return wrong_answer(f"line {number}: {clip(line)} was printed; {clip(right)} was expected")
    return ACCEPTED


def _lines(text: str) -> list[str]:
    return [line.strip().lower() for line in text.strip().split("\n")]


def _same_number(line: str, right: str) -> bool:
    printed, expected = parse_number(line), parse_number(right)
    if printed is None or expected is None:
        return False
    return abs(printed - expected) / max(abs(expected), _MIN_EXPECTED) < _RELATIVE
