"""Remove a folder that a guest could write, whatever it put there.

Theory of operation. Nothing is ever reached by a path with a guest's name in the middle of it: only by one name below a directory
descriptor, and symbolic links are removed, not followed. A tree may be deeper than any stack or descriptor table allows, so
it is flattened rather than descended: each folder found is moved up to the top, where its turn comes, and three levels are open
at a time at most. Folders are made accessible first, because a plain user can be locked out of its own.
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
    """True when it is gone; False where something in it cannot be removed, or not within the time given."""
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
    """Passes over the top folder, for as long as they get anywhere."""
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
    with _open_folder(name, folder):  # moving a folder needs the right to write it
        os.rename(name, _free_name(top, numbers), src_dir_fd=folder, dst_dir_fd=top)


def _free_name(top: int, numbers: Iterator[int]) -> str:
    """rename would replace an empty folder of that name, which does no harm, but fail on any other."""
    for number in numbers:
        try:
            os.stat(f"moved-{number}", dir_fd=top, follow_symlinks=False)
        except FileNotFoundError:
            return f"moved-{number}"
    raise AssertionError("numbers do not end")


def _is_folder(name: str, parent: int) -> bool:
    return stat.S_ISDIR(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode)


@contextlib.contextmanager
def _open_folder(name: str, parent: int | None) -> Iterator[int]:
    """A descriptor of the folder, which is made accessible to its owner on the way."""
    handle = os.open(name, os.O_PATH | _FOLDER, dir_fd=parent)
    try:
        with contextlib.suppress(OSError):  # not ours: root need not, others cannot
            os.chmod(f"/proc/self/fd/{handle}", 0o700)
        fd = os.open(".", os.O_RDONLY | _FOLDER, dir_fd=handle)
    finally:
        os.close(handle)
    try:
        yield fd
    finally:
        os.close(fd)
