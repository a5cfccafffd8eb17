"""Byte for byte. What differs in blanks and line breaks alone is a matter of presentation."""

from __future__ import annotations

from sandbox_runtime.judge.checkers.result import ACCEPTED, CheckResult, wrong_answer, wrong_presentation


def exact(expected: str, printed: str) -> CheckResult:
    if printed == expected:
        return ACCEPTED
    if printed.split() == expected.split():
        return wrong_presentation("the output differs from the expected one in blanks or line breaks alone")
    return wrong_answer("the output is not the expected one")
