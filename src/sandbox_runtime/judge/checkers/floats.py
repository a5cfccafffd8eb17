"""Compare word by word, with the problem's tolerances: numbers may differ by `absolute`, or by `relative` of the expected."""

from __future__ import annotations

from sandbox_runtime.judge.checkers.result import CheckResult
from sandbox_runtime.judge.checkers.tokens import compare_tokens


def floats(expected: str, printed: str, *, absolute: float = 1e-6, relative: float = 1e-6) -> CheckResult:
    return compare_tokens(expected.split(), printed.split(), absolute=absolute, relative=relative)
