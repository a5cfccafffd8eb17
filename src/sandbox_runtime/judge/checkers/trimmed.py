"""Compare exactly, except for whitespace at both ends of the output and at the ends of its lines."""

from __future__ import annotations

from sandbox_runtime.judge.checkers.exact import exact
from sandbox_runtime.judge.checkers.result import CheckResult


def trimmed(expected: str, printed: str) -> CheckResult:
    return exact(_trim(expected), _trim(printed))


def _trim(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().split("\n"))
