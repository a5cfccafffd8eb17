"""Compare lines in any order, ignoring whitespace at their ends and empty lines."""

from __future__ import annotations

from collections import Counter

from sandbox_runtime.judge.checkers.result import ACCEPTED, CheckResult, clip, wrong_answer


def unordered(expected: str, printed: str) -> CheckResult:
    expected_lines, printed_lines = _lines(expected), _lines(printed)
    if expected_lines == printed_lines:
        return ACCEPTED
    missing, surplus = expected_lines - printed_lines, printed_lines - expected_lines
    if missing:
        return wrong_answer(f"{clip(next(iter(missing)))} was expected and not printed, or not as often")
    return wrong_answer(f"{clip(next(iter(surplus)))} was not expected, or not as often")


def _lines(text: str) -> Counter[str]:
    """Whitespace within a line is part of the answer."""
    return Counter(line.strip() for line in text.split("\n") if line.strip())
