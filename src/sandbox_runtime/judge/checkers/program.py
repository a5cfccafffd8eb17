"""What checkers and interactors that are programs say with their exit codes, in testlib's convention."""

from __future__ import annotations

import re

from sandbox_runtime.judge.checkers.result import RIGHT, Found, layout, wrong
from sandbox_runtime.model import Ending, Outcome

INPUT, OUTPUT, ANSWER = "input.txt", "output.txt", "answer.txt"
"""Their arguments, in this order: names of files in their working folder."""
_OK, _WRONG, _PRESENTATION, _POINTS = 0, 1, 2, 7
_TOLD_CHARACTERS = 400
_BROKEN = re.compile(
    r"(SyntaxError|IndentationError|TabError|ImportError|ModuleNotFoundError|NameError|UnboundLocalError|FileNotFoundError"
    r"|PermissionError|MemoryError)(:|$)"
)
"""Python programs that fail have the exit code for wrong answers. These are errors of their own; others, such as a ValueError,
are what a short checker makes of an output that makes no sense."""


def said(outcome: Outcome) -> Found | None:
    """None where it says nothing of the answer: it failed, by its own word (3) or without one."""
    if outcome.ending is not Ending.exited:
        return None
    words = told(outcome)
    if outcome.exit_code == _OK:
        return RIGHT
    if outcome.exit_code == _WRONG:
        return None if _BROKEN.match(_last_line(outcome)) else wrong(words)
    if outcome.exit_code == _PRESENTATION:
        return layout(words)
    return wrong(words or "only a part of the points") if outcome.exit_code == _POINTS else None


def _last_line(outcome: Outcome) -> str:
    return outcome.stderr.text.rstrip().rpartition("\n")[2]


def told(outcome: Outcome) -> str:
    """Checkers speak on standard error."""
    return outcome.stderr.text.strip()[:_TOLD_CHARACTERS]
