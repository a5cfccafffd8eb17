"""What checkers and interactors that are programs say with their exit codes, in testlib's convention."""

from __future__ import annotations

import re

from sandbox_runtime.judge.checkers.result import ACCEPTED, CheckResult, wrong_answer, wrong_presentation
from sandbox_runtime.model import Ending, Outcome

INPUT, OUTPUT, ANSWER = "input.txt", "output.txt", "answer.txt"
"""Their arguments, in this order: names of files in their working folder."""
_OK, _WRONG, _PRESENTATION, _POINTS = 0, 1, 2, 7
_MAX_MESSAGE_CHARACTERS = 400
_CHECKER_ERROR = re.compile(
    r"(SyntaxError|IndentationError|TabError|ImportError|ModuleNotFoundError|NameError|UnboundLocalError|FileNotFoundError"
    r"|PermissionError|MemoryError)(:|$)"
)
"""Python programs that fail have the exit code for wrong answers. These are errors of their own; others, such as a ValueError,
are what a short checker makes of an output that makes no sense."""


def read_checker_result(outcome: Outcome) -> CheckResult | None:
    """None where it says nothing of the answer: it failed, by its own word (3) or without one."""
    if outcome.ending is not Ending.exited:
        return None
    words = checker_message(outcome)
    if outcome.exit_code == _OK:
        return ACCEPTED
    if outcome.exit_code == _WRONG:
        return None if _CHECKER_ERROR.match(_last_line(outcome)) else wrong_answer(words)
    if outcome.exit_code == _PRESENTATION:
        return wrong_presentation(words)
    return wrong_answer(words or "only a part of the points") if outcome.exit_code == _POINTS else None


def _last_line(outcome: Outcome) -> str:
    return outcome.stderr.text.rstrip().rpartition("\n")[2]


def checker_message(outcome: Outcome) -> str:
    """Checkers speak on standard error."""
    return outcome.stderr.text.strip()[:_MAX_MESSAGE_CHARACTERS]
