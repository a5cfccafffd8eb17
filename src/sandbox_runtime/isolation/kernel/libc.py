"""Call the C library through ctypes and raise OSError for errno."""

from __future__ import annotations

import ctypes
import os
from typing import Any

_library = ctypes.PyDLL(None, use_errno=True)

INT = ctypes.c_int
LONG = ctypes.c_long
ULONG = ctypes.c_ulong
TEXT = ctypes.c_char_p
POINTER = ctypes.c_void_p


class Function:
    """A function of the C library with its argument types. `what` names it in errors.

    Create it when a module is loaded: looking up a function or letting ctypes guess types in a forked process would copy dozens
    of pages. The GIL is not released during the call: these calls do not block, and their processes have one thread.
    """

    __slots__ = ("_function", "_what")

    def __init__(self, name: str, *types: Any, what: str = "") -> None:
        self._function = _library[name]
        self._function.argtypes = types
        self._function.restype = LONG if name == "syscall" else INT
        self._what = what or name

    def __call__(self, *arguments: Any) -> int:
        result: int = self._function(*arguments)
        if result < 0:
            number = ctypes.get_errno()
            raise OSError(number, f"{self._what}: {os.strerror(number)}")
        return result


prctl = Function("prctl", INT, ULONG, ULONG, ULONG, ULONG)
