"""renameat2(2): a rename between two directory descriptors that can be told not to replace anything."""

from __future__ import annotations

import ctypes
import os

_NOREPLACE = 1

_renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
_renameat2.restype = ctypes.c_int
_renameat2.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)


def rename(source_fd: int, source: str, target_fd: int, target: str, *, replace: bool) -> None:
    """Names are single parts. Raises OSError: EEXIST where replace is False and the target is there."""
    flags = 0 if replace else _NOREPLACE
    if _renameat2(source_fd, os.fsencode(source), target_fd, os.fsencode(target), flags):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), target)
