"""Line by line and word by word: blanks and empty lines do not count, decimal numbers may differ a little, whole numbers may not.

A tolerance in proportion to the number would take one large whole number for another: those that are expected as whole numbers
must be the same, or a decimal number within a millionth of it.
"""

from __future__ import annotations

import re

from sandbox_runtime.judge.checkers.numbers import is_close, parse_number
from sandbox_runtime.judge.checkers.result import ACCEPTED, CheckResult, clip, wrong_answer

_WHOLE = re.compile(r"[+-]?\d+", re.ASCII)
_ABSOLUTE, _RELATIVE = 1e-8, 1e-5
_FROM_WHOLE = 1e-6


def decimals(expected: str, printed: str) -> CheckResult:
    wanted, got = _lines(expected), _lines(printed)
    if len(wanted) != len(got):
        return wrong_answer(f"{len(got)} lines were printed; {len(wanted)} were expected")
    for place, (words, right) in enumerate(zip(got, wanted, strict=True), 1):
        if words != right and not _same(words, right):
            told = f"line {place}: {clip(' '.join(words))} was printed; {clip(' '.join(right))} was expected"
            return wrong_answer(told)
    return ACCEPTED


def _lines(text: str) -> list[list[str]]:
    return [words for line in text.split("\n") if (words := line.split())]


def _same(words: list[str], right: list[str]) -> bool:
    return len(words) == len(right) and all(_same_word(word, wanted) for word, wanted in zip(words, right, strict=True))


def _same_word(word: str, wanted: str) -> bool:
    if word == wanted:
        return True
    printed, expected = parse_number(word), parse_number(wanted)
    if printed is None or expected is None:
        return False
    if not _WHOLE.fullmatch(wanted):
        return is_close(printed, expected, absolute=_ABSOLUTE, relative=_RELATIVE)
    return _WHOLE.fullmatch(word) is None and is_close(printed, expected, absolute=_FROM_WHOLE)
