"""Remove a folder that a guest could write, whatever it contains.

Theory of operation. Files are accessed only by one name below a directory descriptor, never by a path that contains a guest's
names, and symbolic links are removed, not followed. A tree may be deeper than any stack or descriptor table allows, so it is
flattened: each folder found is moved up to the top and removed there later; at most three levels are open at a time. Folders
are made accessible first, because a plain user can be locked out of its own.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import stat
import time
from collections.abc import Iterator

_FOLDER = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def remove_folder(path: str, wait_s: float = 60.0) -> bool:
    """Remove the folder. Returns False if something in it could not be removed in time."""
    deadline = time.monotonic() + wait_s
    try:
        with _open_folder(path, None) as top:
            _empty(top, deadline)
        os.rmdir(path)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _empty(top: int, deadline: float) -> None:
    """Repeat over the top folder as long as something changes."""
    numbers = itertools.count()
    before: set[str] = set()
    while (names := set(os.listdir(top))) and names != before and time.monotonic() < deadline:
        before = names
        for name in names:
            with contextlib.suppress(OSError):
                _remove_entry(name, top, numbers, deadline)


def _remove_entry(name: str, top: int, numbers: Iterator[int], deadline: float) -> None:
    if not _is_folder(name, top):
        os.unlink(name, dir_fd=top)
        return
    with _open_folder(name, top) as folder:
        for inner in os.listdir(folder):
            if time.monotonic() >= deadline:
                return
            with contextlib.suppress(OSError):
                _unlink_or_move_up(inner, folder, top, numbers)
    os.rmdir(name, dir_fd=top)


def _unlink_or_move_up(name: str, folder: int, top: int, numbers: Iterator[int]) -> None:
    if not _is_folder(name, folder):
        os.unlink(name, dir_fd=folder)
        return
    with _open_folder(name, folder):  # moving a folder needs write permission for it
        os.rename(name, _free_name(top, numbers), src_dir_fd=folder, dst_dir_fd=top)


def _free_name(top: int, numbers: Iterator[int]) -> str:
    """Return an unused name. rename would replace an empty folder of that name, which is harmless, but fail on any other."""
    for number in numbers:
        try:
            os.stat(f"moved-{number}", dir_fd=top, follow_symlinks=False)
        except FileNotFoundError:
            return f"moved-{number}"
    raise AssertionError("unreachable")


def _is_folder(name: str, parent: int) -> bool:
    return stat.S_ISDIR(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode)


@contextlib.contextmanager
def _open_folder(name: str, parent: int | None) -> Iterator[int]:
    """Open the folder and make it accessible to its owner."""
    handle = os.open(name, os.O_PATH | _FOLDER, dir_fd=parent)
    try:
        with contextlib.suppress(OSError):  # not ours: root does not need it, others are not allowed to
            os.chmod(f"/proc/self/fd/{handle}", 0o700)
        fd = os.open(".", os.O_RDONLY | _FOLDER, dir_fd=handle)
    finally:
        os.close(handle)
    try:
        yield fd
    finally:
        os.close(fd)
