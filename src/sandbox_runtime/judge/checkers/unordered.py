"""The same lines, in any order; blanks at their ends and empty lines do not count."""

from __future__ import annotations

from collections import Counter

from sandbox_runtime.judge.checkers.result import ACCEPTED, CheckResult, clip, wrong_answer


def unordered(expected: str, printed: str) -> CheckResult:
    wanted, got = _lines(expected), _lines(printed)
    if wanted == got:
        return ACCEPTED
    missing, surplus = wanted - got, got - wanted
    if missing:
        return wrong_answer(f"{clip(next(iter(missing)))} was expected and not printed, or not as often")
    return wrong_answer(f"{clip(next(iter(surplus)))} was not expected, or not as often")


def _lines(text: str) -> Counter[str]:
    """Lines as lists of words would be slower and no more right: within a line blanks are part of the answer."""
    return Counter(line.strip() for line in text.split("\n") if line.strip())
