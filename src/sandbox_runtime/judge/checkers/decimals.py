"""Compare line by line and word by word, ignoring whitespace and empty lines. Decimal numbers have a tolerance, integers do not.

A relative tolerance would accept one large integer for another: an expected integer must be printed exactly, or as a decimal
number within a millionth of it.
"""

from __future__ import annotations

import re

from sandbox_runtime.judge.checkers.numbers import is_close, parse_number
from sandbox_runtime.judge.checkers.result import ACCEPTED, CheckResult, clip, wrong_answer

_INTEGER = re.compile(r"[+-]?\d+", re.ASCII)
_ABSOLUTE, _RELATIVE = 1e-8, 1e-5
_INTEGER_ABSOLUTE = 1e-6


def decimals(expected: str, printed: str) -> CheckResult:
    expected_lines, printed_lines = _lines(expected), _lines(printed)
    if len(expected_lines) != len(printed_lines):
        return wrong_answer(f"{len(printed_lines)} lines were printed; {len(expected_lines)} were expected")
    for number, (words, right) in enumerate(zip(printed_lines, expected_lines, strict=True), 1):
        if words != right and not _same(words, right):
            return wrong_answer(f"line {number}: {clip(' '.join(words))} was printed; {clip(' '.join(right))} was expected")
    return ACCEPTED


def _lines(text: str) -> list[list[str]]:
    return [words for line in text.split("\n") if (words := line.split())]


def _same(words: list[str], right: list[str]) -> bool:
    return len(words) == len(right) and all(_same_word(word, expected) for word, expected in zip(words, right, strict=True))


def _same_word(word: str, right: str) -> bool:
    if word == right:
        return True
    printed, expected = parse_number(word), parse_number(right)
    if printed is None or expected is None:
        return False
    if not _INTEGER.fullmatch(right):
        return is_close(printed, expected, absolute=_ABSOLUTE, relative=_RELATIVE)
    return _INTEGER.fullmatch(word) is None and is_close(printed, expected, absolute=_INTEGER_ABSOLUTE)
