"""Compare a program's output with the expected output. Pure functions of two texts, one file each.

Contract: a checker never fails on any output. Invalid options raise InvalidRequest when the checker is looked up. `program` and
`interactive` are programs themselves: the trial runner runs them and checkers.program reads their results.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from typing import Any

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.judge.checkers.decimals import decimals
from sandbox_runtime.judge.checkers.exact import exact
from sandbox_runtime.judge.checkers.floats import floats
from sandbox_runtime.judge.checkers.json_value import json_value
from sandbox_runtime.judge.checkers.lines import lines
from sandbox_runtime.judge.checkers.result import ACCEPTED, CheckResult
from sandbox_runtime.judge.checkers.tokens import tokens
from sandbox_runtime.judge.checkers.trimmed import trimmed
from sandbox_runtime.judge.checkers.unordered import unordered

__all__ = ["ACCEPTED", "INTERACTIVE", "PROGRAM", "STATUS", "CheckResult", "Compare", "find_checker"]

STATUS, PROGRAM, INTERACTIVE = "status", "program", "interactive"
"""Checkers that compare no texts: the exit status decides, or another program does."""

Compare = Callable[[str, str], CheckResult]
"""(expected, printed) → result."""

_BY_NAME: Mapping[str, Callable[..., CheckResult]] = {
    "exact": exact,
    "trimmed": trimmed,
    "lines": lines,
    "tokens": tokens,
    "floats": floats,
    "unordered": unordered,
    "decimals": decimals,
    "json_value": json_value,
}
_OPTIONS: Mapping[str, tuple[str, ...]] = {"floats": ("absolute", "relative")}


def find_checker(name: str, options: Mapping[str, Any]) -> Compare:
    """Return the checker with its options applied. Raises InvalidRequest."""
    compare = _BY_NAME.get(name)
    if compare is None:
        known = ", ".join((STATUS, *_BY_NAME, PROGRAM, INTERACTIVE))
        raise InvalidRequest(f"unknown checker {name[:60]!r}; available: {known}")
    tolerances = {option: _tolerance(name, option, value) for option, value in options.items()}
    return functools.partial(compare, **tolerances)


def _tolerance(name: str, option: str, value: object) -> float:
    if option not in _OPTIONS.get(name, ()):
        raise InvalidRequest(f"the checker {name} has no option {option[:60]!r}")
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        raise InvalidRequest(f"the option {option} of the checker {name} must be a number >= 0, not {value!r}")
    return float(value)
