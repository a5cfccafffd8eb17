"""What the kernel refused, in words that say what to do. One table for every verb of this room."""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Iterator

from sandbox_runtime.errors import Conflict, InvalidRequest, NotFound, PlatformFault, SandboxError, TooMany

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_BAD_PATH = (errno.ELOOP, errno.ENOTDIR, errno.EXDEV)
_NO_PLAIN_FILE = (errno.ENXIO, errno.ENODEV)
_EXHAUSTED = (errno.EMFILE, errno.ENFILE, errno.ENOMEM)


@contextlib.contextmanager
def translate_os_errors(name: str, done: str) -> Iterator[None]:
    """An OSError from within becomes an error for the caller; done is what could not be: "read", "written", …"""
    try:
        yield
    except OSError as error:
        raise to_sandbox_error(error, name, done) from error


def to_sandbox_error(error: OSError, name: str, done: str) -> SandboxError:
    display = show_name(name)
    number = error.errno
    if number == errno.ENOENT:
        return NotFound(f"there is no {display} in the box")
    if number in _BAD_PATH:
        return InvalidRequest(
            f"{display} cannot be {done}: a part of its path is a link, which is never followed, or not a folder"
        )
    if number in FULL:
        return InvalidRequest(
            f"{display} does not fit into the box: its disk limit is reached; delete files or take a larger disk"
        )
    return _classify(number, display, done) or PlatformFault(f"{display} could not be {done}: {error.strerror}")


def _classify(number: int | None, display: str, done: str) -> SandboxError | None:
    if number == errno.ENAMETOOLONG:
        return InvalidRequest(f"{display}: a part of the name is longer than 255 bytes, or all of it is longer than 4095")
    if number == errno.EISDIR:
        return InvalidRequest(f"{display} cannot be {done}: it names a folder")
    if number in (errno.ENOTEMPTY, errno.EEXIST):
        return Conflict(f"{display} cannot be {done}: it is there already, or is a folder that is not empty")
    if number in _NO_PLAIN_FILE:
        return InvalidRequest(f"{display} is no plain file")
    if number in (errno.EACCES, errno.EPERM):
        return InvalidRequest(f"{display} cannot be {done}: its rights forbid it; let the program in the box change them")
    if number == errno.EAGAIN:
        return Conflict(f"{display} cannot be {done}: the program keeps moving folders on its way; try again")
    if number in _EXHAUSTED:
        return TooMany(f"{display} cannot be {done} now: the server is out of descriptors or memory")
    return None


def show_name(name: str) -> str:
    """A name as it may stand in a message: short, and without anything that a terminal or a log would act on."""
    display = ascii(name) if any(not c.isprintable() for c in name) else repr(name)
    return display if len(display) <= 120 else f"{display[:120]}…"
