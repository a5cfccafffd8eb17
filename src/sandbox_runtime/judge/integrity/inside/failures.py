"""Exceptions as data: class, bases, arguments and frames of one that was raised in the other process."""

from __future__ import annotations

import builtins
import traceback
from types import TracebackType
from typing import Any

_HARNESS_PREFIX = "<_sandbox_harness"
_FRAME_STACK_FILE = "/isolation/inside/frame_stack.py"
_MAX_FRAMES = 60
_MAX_CAUSES = 4
_MAX_CHARACTERS = 4000
FRAMES = "_sandbox_frames"
"""The attribute of a rebuilt exception: the formatted frames of the process that raised it."""
MESSAGE = "_sandbox_message"
"""The attribute that holds what its own class said of it."""


def describe(error: BaseException, depth: int = 0) -> dict[str, Any]:
    """The exception without its arguments."""
    kind = type(error)
    return {
        "class": kind.__name__,
        "module": kind.__module__,
        "own": own_names(kind),
        "bases": [base.__name__ for base in kind.__mro__ if base.__module__ == "builtins" and base is not object],
        "message": _text(error),
        "frames": frames(error.__traceback__),
        "cause": describe(error.__cause__, depth + 1) if error.__cause__ is not None and depth < _MAX_CAUSES else None,
    }


def own_names(kind: type) -> list[str]:
    """The names of a class and of those above it that the program defines itself."""
    return [base.__name__ for base in kind.__mro__ if base.__module__ == "__main__"]


def frames(start: TracebackType | None) -> list[str]:
    """Formatted, without ours."""
    while start is not None and is_harness_file(start.tb_frame.f_code.co_filename):
        start = start.tb_next
    summary = traceback.StackSummary.extract(traceback.walk_tb(start), limit=-_MAX_FRAMES)
    kept = [frame for frame in summary if not is_harness_file(frame.filename)]
    return [text[:_MAX_CHARACTERS] for text in traceback.StackSummary.from_list(kept).format()]


def is_harness_file(filename: str) -> bool:
    return filename.startswith(_HARNESS_PREFIX) or filename.endswith(_FRAME_STACK_FILE)


def builtin_class(names: Any) -> type[BaseException]:
    """The first of these names that is an exception of Python's own."""
    for name in names if isinstance(names, list) else []:
        found = getattr(builtins, name, None) if isinstance(name, str) else None
        if isinstance(found, type) and issubclass(found, BaseException):
            return found
    return RuntimeError


def rebuild(kind: type[BaseException], content: Any, told: dict[str, Any]) -> BaseException:
    """An exception of that class, whatever its constructor asks for. content: its arguments and attributes."""
    try:
        error = kind.__new__(kind)
    except TypeError:
        error = RuntimeError.__new__(RuntimeError)
    arguments, fields = content if isinstance(content, tuple) and len(content) == 2 else (None, {})
    error.args = arguments if isinstance(arguments, tuple) else (str(told.get("message", "")),)
    if isinstance(error, SystemExit):
        error.code = error.args[0] if error.args else None
    shown = told.get("frames")
    error.__dict__.update(fields if isinstance(fields, dict) else {})
    error.__dict__[FRAMES] = [text for text in shown if isinstance(text, str)] if isinstance(shown, list) else []
    error.__dict__[MESSAGE] = str(told.get("message", ""))
    return error


def own_class(name: str, base: type[BaseException]) -> type[BaseException]:
    """A class that stands for one of the solution's own."""

    def text(self: BaseException) -> str:
        return self.__dict__[MESSAGE] if MESSAGE in self.__dict__ else base.__str__(self)

    return type(name, (base,), {"__module__": "__main__", "__str__": text})


def _text(error: BaseException) -> str:
    try:
        return str(error)[:_MAX_CHARACTERS]
    except BaseException:  # the program's own __str__ may do anything
        return ""
