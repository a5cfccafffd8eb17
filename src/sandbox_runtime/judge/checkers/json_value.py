"""Compare the last printed line as a JSON value."""

from __future__ import annotations

import json
from typing import Any

from sandbox_runtime.judge.checkers.numbers import is_close
from sandbox_runtime.judge.checkers.result import ACCEPTED, CheckResult, clip, wrong_answer

_ABSOLUTE, _RELATIVE = 1e-8, 1e-6


def json_value(expected: str, printed: str) -> CheckResult:
    line = printed.strip().rpartition("\n")[2]
    try:
        got, wanted = json.loads(line), json.loads(expected)
        same = _same(got, wanted)
    except (ValueError, RecursionError):
        return wrong_answer(f"{clip(line)} was printed, which is not JSON")
    return ACCEPTED if same else wrong_answer(f"{clip(line)} was returned; {clip(expected.strip())} was expected")


def _same(got: Any, wanted: Any) -> bool:
    if isinstance(got, list) and isinstance(wanted, list):
        return len(got) == len(wanted) and all(_same(item, right) for item, right in zip(got, wanted, strict=True))
    if isinstance(got, dict) and isinstance(wanted, dict):
        return got.keys() == wanted.keys() and all(_same(got[key], wanted[key]) for key in wanted)
    if isinstance(got, float) or isinstance(wanted, float):
        return _number(got) and _number(wanted) and is_close(float(got), float(wanted), absolute=_ABSOLUTE, relative=_RELATIVE)
    return bool(got == wanted)


def _number(value: object) -> bool:
    return isinstance(value, int | float) and abs(value) < 1e300
