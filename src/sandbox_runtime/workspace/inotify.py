"""inotify(7): the kernel tells what happens in folders."""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from collections.abc import Iterator

from sandbox_runtime.errors import TooMany

MODIFY, ATTRIB, CLOSE_WRITE, MOVED_FROM, MOVED_TO, CREATE, DELETE = 0x2, 0x4, 0x8, 0x40, 0x80, 0x100, 0x200
OVERFLOW, IGNORED, IS_FOLDER = 0x4000, 0x8000, 0x40000000
_ONLYDIR, _EXCL_UNLINK = 0x01000000, 0x04000000
_EVENTS = MODIFY | ATTRIB | CLOSE_WRITE | MOVED_FROM | MOVED_TO | CREATE | DELETE | _ONLYDIR | _EXCL_UNLINK
_EVENT = struct.Struct("iIII")
_READ_BYTES = 64 * 1024

_libc = ctypes.CDLL(None, use_errno=True)
_libc.inotify_add_watch.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_uint32)


def new() -> int:
    descriptor = int(_libc.inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK))
    if descriptor < 0:
        reason = os.strerror(ctypes.get_errno())
        raise TooMany(f"no more folders can be watched: {reason}; raise fs.inotify.max_user_instances", retry_after_s=10)
    return descriptor


def add(inotify_fd: int, folder_fd: int) -> int:
    """The number of the watch. The kernel wants a path, and this one is of the descriptor itself: no name is looked up."""
    watch = int(_libc.inotify_add_watch(inotify_fd, f"/proc/self/fd/{folder_fd}".encode(), _EVENTS))
    if watch < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return watch


def remove(inotify_fd: int, watch: int) -> None:
    """One that is gone already is no matter."""
    _libc.inotify_rm_watch(inotify_fd, watch)


def events(inotify_fd: int) -> Iterator[tuple[int, int, str]]:
    """Watch, mask and name of those that are there. One read is enough: the loop comes back while there are more."""
    try:
        data = os.read(inotify_fd, _READ_BYTES)
    except OSError as error:
        if error.errno in (errno.EAGAIN, errno.EINTR):
            return
        raise
    offset = 0
    while offset < len(data):
        watch, mask, _, length = _EVENT.unpack_from(data, offset)
        offset += _EVENT.size
        yield watch, mask, os.fsdecode(data[offset : offset + length].rstrip(b"\0"))
        offset += length
