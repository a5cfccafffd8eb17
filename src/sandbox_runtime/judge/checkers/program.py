"""Read the results of checkers and interactors that are programs, by testlib's exit codes."""

from __future__ import annotations

import re

from sandbox_runtime.judge.checkers.result import ACCEPTED, CheckResult, wrong_answer, wrong_presentation
from sandbox_runtime.model import Ending, Outcome

INPUT, OUTPUT, ANSWER = "input.txt", "output.txt", "answer.txt"
"""Arguments of the checker, in this order: names of files in its working folder."""
_OK, _WRONG, _PRESENTATION, _POINTS = 0, 1, 2, 7
_MAX_MESSAGE_CHARACTERS = 400
_CHECKER_ERROR = re.compile(
    r"(SyntaxError|IndentationError|TabError|ImportError|ModuleNotFoundError|NameError|UnboundLocalError|FileNotFoundError"
    r"|PermissionError|MemoryError)(:|$)"
)
"""A Python program that raises exits with the code for wrong answers. These exceptions are errors of the checker itself. Others,
such as ValueError, are how short checkers reject a malformed output."""


def read_checker_result(outcome: Outcome) -> CheckResult | None:
    """Return the checker's result, or None if the checker failed (exit code 3 or any unknown end)."""
    if outcome.ending is not Ending.exited:
        return None
    message = checker_message(outcome)
    if outcome.exit_code == _OK:
        return ACCEPTED
    if outcome.exit_code == _WRONG:
        return None if _CHECKER_ERROR.match(_last_line(outcome)) else wrong_answer(message)
    if outcome.exit_code == _PRESENTATION:
        return wrong_presentation(message)
    return wrong_answer(message or "only a part of the points") if outcome.exit_code == _POINTS else None


def _last_line(outcome: Outcome) -> str:
    return outcome.stderr.text.rstrip().rpartition("\n")[2]


def checker_message(outcome: Outcome) -> str:
    """Return the beginning of standard error, where checkers write their messages."""
    return outcome.stderr.text.strip()[:_MAX_MESSAGE_CHARACTERS]
