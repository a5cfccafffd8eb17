"""What the kernel refused, in words that say what to do. One table for every verb of this room."""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Iterator

from sandbox_runtime.errors import Conflict, InvalidRequest, NotFound, PlatformFault, SandboxError, TooMany

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_IN_THE_WAY = (errno.ELOOP, errno.ENOTDIR, errno.EXDEV)
_NO_PLAIN_FILE = (errno.ENXIO, errno.ENODEV)
_EXHAUSTED = (errno.EMFILE, errno.ENFILE, errno.ENOMEM)


@contextlib.contextmanager
def telling(name: str, done: str) -> Iterator[None]:
    """An OSError from within becomes an error for the caller; done is what could not be: "read", "written", …"""
    try:
        yield
    except OSError as error:
        raise told(error, name, done) from error


def told(error: OSError, name: str, done: str) -> SandboxError:
    shown = show(name)
    number = error.errno
    if number == errno.ENOENT:
        return NotFound(f"there is no {shown} in the box")
    if number in _IN_THE_WAY:
        return InvalidRequest(f"{shown} cannot be {done}: a part of its path is a link, which is never followed, or not a folder")
    if number in FULL:
        return InvalidRequest(f"{shown} does not fit into the box: its disk limit is reached; delete files or take a larger disk")
    return _told_of_kinds(number, shown, done) or PlatformFault(f"{shown} could not be {done}: {error.strerror}")


def _told_of_kinds(number: int | None, shown: str, done: str) -> SandboxError | None:
    if number == errno.ENAMETOOLONG:
        return InvalidRequest(f"{shown}: a part of the name is longer than 255 bytes, or all of it is longer than 4095")
    if number == errno.EISDIR:
        return InvalidRequest(f"{shown} cannot be {done}: it names a folder")
    if number in (errno.ENOTEMPTY, errno.EEXIST):
        return Conflict(f"{shown} cannot be {done}: it is there already, or is a folder that is not empty")
    if number in _NO_PLAIN_FILE:
        return InvalidRequest(f"{shown} is no plain file")
    if number in (errno.EACCES, errno.EPERM):
        return InvalidRequest(f"{shown} cannot be {done}: its rights forbid it; let the program in the box change them")
    if number == errno.EAGAIN:
        return Conflict(f"{shown} cannot be {done}: the program keeps moving folders on its way; try again")
    if number in _EXHAUSTED:
        return TooMany(f"{shown} cannot be {done} now: the server is out of descriptors or memory")
    return None


def show(name: str) -> str:
    """A name as it may stand in a message: short, and without anything that a terminal or a log would act on."""
    shown = ascii(name) if any(not c.isprintable() for c in name) else repr(name)
    return shown if len(shown) <= 120 else f"{shown[:120]}…"
