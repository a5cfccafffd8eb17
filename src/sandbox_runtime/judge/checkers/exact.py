"""Compare exactly. Outputs that differ only in whitespace are a presentation error."""

from __future__ import annotations

from sandbox_runtime.judge.checkers.result import ACCEPTED, CheckResult, wrong_answer, wrong_presentation


def exact(expected: str, printed: str) -> CheckResult:
    if printed == expected:
        return ACCEPTED
    if printed.split() == expected.split():
        return wrong_presentation("the output differs from the expected one only in blanks or line breaks")
    return wrong_answer("the output is not the expected one")
