"""Mount the file system in an image file through a loop device, without attaching it to a path yet.

The device detaches by itself when the mount is gone (autoclear), and the image needs no name, so nothing is left behind however
the process that created it ends.
"""

from __future__ import annotations

import fcntl
import os
import struct
from typing import Final

from sandbox_runtime.isolation.kernel import libc

CONTROL: Final = "/dev/loop-control"
_GET_FREE, _CONFIGURE = 0x4C82, 0x4C0A
_AUTOCLEAR, _DIRECT_IO = 4, 16
_BLOCK_BYTES = 4096
# struct loop_config: the file and the block size, then loop_info64 of 232 bytes with the flags at 52, then 64 bytes.
_CONFIG = struct.Struct("II52xI176x64x")
_ATTEMPTS = 16

_FSOPEN, _FSCONFIG, _FSMOUNT, _MOVE_MOUNT = 430, 431, 432, 429
_CLOSE_ON_EXEC = 1
_SET_FLAG, _SET_STRING, _CREATE = 0, 1, 6
_NO_SUID, _NO_DEV = 2, 4
_FROM_EMPTY_PATH = 4
_AT_FDCWD = -100

_fsopen = libc.Function("syscall", libc.LONG, libc.TEXT, libc.ULONG, what="fsopen")
_fsconfig = libc.Function("syscall", libc.LONG, libc.LONG, libc.ULONG, libc.TEXT, libc.TEXT, libc.LONG, what="fsconfig")
_fsmount = libc.Function("syscall", libc.LONG, libc.LONG, libc.ULONG, libc.ULONG, what="fsmount")
_move = libc.Function("syscall", libc.LONG, libc.LONG, libc.TEXT, libc.LONG, libc.TEXT, libc.ULONG, what="move_mount")


def mount_image(image_fd: int, kind: str) -> int:
    """Return a descriptor of a mount of the file system in an image file. Raises OSError."""
    device, path = _attach_loop_device(image_fd)
    try:
        return _mount_device(path, kind)
    finally:
        os.close(device)


def attach(mount_fd: int, target: str) -> None:
    """Attach a mount to a path in the caller's mount namespace."""
    _move(_MOVE_MOUNT, mount_fd, b"", _AT_FDCWD, target.encode(), _FROM_EMPTY_PATH)


def _attach_loop_device(image_fd: int) -> tuple[int, str]:
    """Attach the image to a free loop device. Retries if another process takes the device first."""
    control = os.open(CONTROL, os.O_RDWR | os.O_CLOEXEC)
    try:
        for attempt in range(_ATTEMPTS):
            path = f"/dev/loop{fcntl.ioctl(control, _GET_FREE)}"
            device = os.open(path, os.O_RDWR | os.O_CLOEXEC)
            try:
                fcntl.ioctl(device, _CONFIGURE, _CONFIG.pack(image_fd, _BLOCK_BYTES, _AUTOCLEAR | _DIRECT_IO))
                return device, path
            except OSError:
                os.close(device)
                if attempt == _ATTEMPTS - 1:
                    raise
    finally:
        os.close(control)
    raise AssertionError("unreachable")


def _mount_device(path: str, kind: str) -> int:
    context = _fsopen(_FSOPEN, kind.encode(), _CLOSE_ON_EXEC)
    try:
        _fsconfig(_FSCONFIG, context, _SET_STRING, b"source", path.encode(), 0)
        # Deleted data becomes a hole in the image, which frees its disk space.
        _fsconfig(_FSCONFIG, context, _SET_FLAG, b"discard", None, 0)
        _fsconfig(_FSCONFIG, context, _CREATE, None, None, 0)
        return _fsmount(_FSMOUNT, context, _CLOSE_ON_EXEC, _NO_SUID | _NO_DEV)
    finally:
        os.close(context)
