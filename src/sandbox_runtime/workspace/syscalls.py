"""System calls without a wrapper in the C library or in Python: openat2(2) and renameat2(2).

openat2 opens a path below a directory descriptor, and the kernel refuses every way out of it. Linux resolves the whole path under
the given rules in one call, so there is no moment between a check and its use.
"""

from __future__ import annotations

import ctypes
import errno
import os

from sandbox_runtime.errors import Unavailable

_OPENAT2 = 437
"""The number of the call, the same on every architecture."""
_NO_XDEV, _NO_MAGICLINKS, _NO_SYMLINKS, _BENEATH = 0x01, 0x02, 0x04, 0x08
_CONFINED = _NO_XDEV | _NO_MAGICLINKS | _NO_SYMLINKS | _BENEATH
_NOREPLACE = 1
_ATTEMPTS = 16


class _OpenHow(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


_libc = ctypes.CDLL(None, use_errno=True)
_syscall = _libc.syscall
_syscall.restype = ctypes.c_long
_syscall.argtypes = (ctypes.c_long, ctypes.c_int, ctypes.c_char_p, ctypes.POINTER(_OpenHow), ctypes.c_size_t)
_renameat2 = _libc.renameat2
_renameat2.restype = ctypes.c_int
_renameat2.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)


def open_beneath(folder_fd: int, path: str, flags: int, mode: int = 0) -> int:
    """Open a path below folder_fd, on the same mount and without links on the way, and return its descriptor. Raises OSError."""
    how = _OpenHow(flags | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, mode, _CONFINED)
    name = os.fsencode(path)
    number = errno.EAGAIN
    for _ in range(_ATTEMPTS):
        descriptor = int(_syscall(_OPENAT2, folder_fd, name, ctypes.byref(how), ctypes.sizeof(how)))
        if descriptor >= 0:
            return descriptor
        number = ctypes.get_errno()
        # EAGAIN: something was renamed while the kernel resolved the path, so it could not prove the path safe. Try again.
        if number not in (errno.EAGAIN, errno.EINTR):
            break
    if number == errno.ENOSYS:
        raise Unavailable("this kernel lacks openat2, which safe access to the files of a box needs; use Linux 5.6 or newer")
    raise OSError(number, os.strerror(number), path)


def rename(source_fd: int, source: str, target_fd: int, target: str, *, replace: bool) -> None:
    """Rename between two folders. Names are single parts. Raises OSError: EEXIST if the target exists and replace is False."""
    flags = 0 if replace else _NOREPLACE
    if _renameat2(source_fd, os.fsencode(source), target_fd, os.fsencode(target), flags):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), target)
