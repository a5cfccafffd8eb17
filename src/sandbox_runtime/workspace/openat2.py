"""openat2(2): open a path below a directory descriptor, with the kernel refusing every way out of it.

Linux resolves the whole path under the given rules in one call, so there is no moment between a check and its use. The call
has no wrapper in the C library; its number is the same on every architecture.
"""

from __future__ import annotations

import ctypes
import errno
import os

from sandbox_runtime.errors import Unavailable

_OPENAT2 = 437
_NO_XDEV, _NO_MAGICLINKS, _NO_SYMLINKS, _BENEATH = 0x01, 0x02, 0x04, 0x08
_CONFINED = _NO_XDEV | _NO_MAGICLINKS | _NO_SYMLINKS | _BENEATH
_ATTEMPTS = 16


class _OpenHow(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


_syscall = ctypes.CDLL(None, use_errno=True).syscall
_syscall.restype = ctypes.c_long
_syscall.argtypes = (ctypes.c_long, ctypes.c_int, ctypes.c_char_p, ctypes.POINTER(_OpenHow), ctypes.c_size_t)


def open_beneath(folder_fd: int, path: str, flags: int, mode: int = 0) -> int:
    """A descriptor of path, which must lie below folder_fd on the same mount with no link on the way. Raises OSError."""
    how = _OpenHow(flags | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, mode, _CONFINED)
    name = os.fsencode(path)
    number = errno.EAGAIN
    for _ in range(_ATTEMPTS):
        descriptor = int(_syscall(_OPENAT2, folder_fd, name, ctypes.byref(how), ctypes.sizeof(how)))
        if descriptor >= 0:
            return descriptor
        number = ctypes.get_errno()
        # The kernel gives EAGAIN when something was renamed while it resolved: it could not prove the path safe, so ask again.
        if number not in (errno.EAGAIN, errno.EINTR):
            break
    if number == errno.ENOSYS:
        raise Unavailable("this kernel lacks openat2, without which files of a box cannot be reached safely; Linux 5.6 has it")
    raise OSError(number, os.strerror(number), path)
