"""Exceptions as data: class, bases, arguments and frames of one that was raised in the other process."""

from __future__ import annotations

import builtins
import traceback
from types import TracebackType
from typing import Any

_PACKAGE = "<_sandbox_harness"
_STACK = "/isolation/inside/stack.py"
_MAX_FRAMES = 60
_MAX_CHARACTERS = 4000
FRAMES = "_sandbox_frames"
"""The attribute of a rebuilt exception: the formatted frames of the process that raised it."""


def describe(error: BaseException) -> dict[str, Any]:
    """The exception without its arguments."""
    kind = type(error)
    return {
        "class": kind.__name__,
        "module": kind.__module__,
        "own": own_names(kind),
        "bases": [base.__name__ for base in kind.__mro__ if base.__module__ == "builtins" and base is not object],
        "message": _text(error),
        "frames": frames(error.__traceback__),
    }


def own_names(kind: type) -> list[str]:
    """The names of a class and of those above it that the program defines itself."""
    return [base.__name__ for base in kind.__mro__ if base.__module__ == "__main__"]


def frames(start: TracebackType | None) -> list[str]:
    """Formatted, without ours."""
    while start is not None and is_ours(start.tb_frame.f_code.co_filename):
        start = start.tb_next
    summary = traceback.StackSummary.extract(traceback.walk_tb(start), limit=-_MAX_FRAMES)
    kept = [frame for frame in summary if not is_ours(frame.filename)]
    return [text[:_MAX_CHARACTERS] for text in traceback.StackSummary.from_list(kept).format()]


def is_ours(filename: str) -> bool:
    return filename.startswith(_PACKAGE) or filename.endswith(_STACK)


def builtin_class(names: Any) -> type[BaseException]:
    """The first of these names that is an exception of Python's own."""
    for name in names if isinstance(names, list) else []:
        found = getattr(builtins, name, None) if isinstance(name, str) else None
        if isinstance(found, type) and issubclass(found, BaseException):
            return found
    return RuntimeError


def rebuild(kind: type[BaseException], arguments: Any, told: dict[str, Any]) -> BaseException:
    """An exception of that class, whatever its constructor asks for."""
    try:
        error = kind.__new__(kind)
    except TypeError:
        error = RuntimeError.__new__(RuntimeError)
    error.args = arguments if isinstance(arguments, tuple) else (str(told.get("message", "")),)
    if isinstance(error, SystemExit):
        error.code = error.args[0] if error.args else None
    shown = told.get("frames")
    setattr(error, FRAMES, [text for text in shown if isinstance(text, str)] if isinstance(shown, list) else [])
    return error


def _text(error: BaseException) -> str:
    try:
        return str(error)[:_MAX_CHARACTERS]
    except BaseException:  # the program's own __str__ may do anything
        return ""
