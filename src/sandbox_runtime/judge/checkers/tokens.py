"""Compare word by word, ignoring whitespace and case. Numbers may differ by a hundred-thousandth."""

from __future__ import annotations

from sandbox_runtime.judge.checkers.numbers import is_close, parse_number
from sandbox_runtime.judge.checkers.result import ACCEPTED, CheckResult, clip, wrong_answer

_ABSOLUTE = 1e-5


def tokens(expected: str, printed: str) -> CheckResult:
    return compare_tokens(expected.lower().split(), printed.lower().split(), absolute=_ABSOLUTE, relative=0.0)


def compare_tokens(expected: list[str], printed: list[str], *, absolute: float, relative: float) -> CheckResult:
    if len(expected) != len(printed):
        return wrong_answer(f"{len(printed)} words were printed; {len(expected)} were expected")
    for number, (word, right) in enumerate(zip(printed, expected, strict=True), 1):
        if word != right and not _close(word, right, absolute, relative):
            return wrong_answer(f"word {number}: {clip(word)} was printed; {clip(right)} was expected")
    return ACCEPTED


def _close(word: str, right: str, absolute: float, relative: float) -> bool:
    printed, expected = parse_number(word), parse_number(right)
    return printed is not None and expected is not None and is_close(printed, expected, absolute=absolute, relative=relative)
