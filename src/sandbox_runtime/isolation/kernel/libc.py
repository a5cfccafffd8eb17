"""The C library, called through ctypes, with errno turned into OSError."""

from __future__ import annotations

import ctypes
import os

_libc = ctypes.CDLL(None, use_errno=True)
_syscall = _libc.syscall
_syscall.restype = ctypes.c_long


def check(result: int, what: str) -> int:
    """The result of a libc call, or the OSError its errno stands for."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def call(name: str, *arguments: object) -> int:
    """libc's function `name`; integers are passed as longs so that flags with the high bit survive."""
    function = getattr(_libc, name)
    return check(function(*map(_widen, arguments)), name)


def syscall(number: int, *arguments: object, what: str = "") -> int:
    """A system call by number, for those that libc has no wrapper for."""
    return check(_syscall(ctypes.c_long(number), *map(_widen, arguments)), what or f"system call {number}")


def _widen(argument: object) -> object:
    return ctypes.c_long(argument) if isinstance(argument, int) else argument
