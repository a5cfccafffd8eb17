"""A walk over the folders of an area, without following anything.

The guest may move, replace and remove what we walk over. One folder at a time is held open, reached from the area's own
descriptor with openat2, so a folder that is swapped for a link is passed over and never entered. What vanishes meanwhile is
passed over too. How many names are looked at is bounded; how deep is bounded by the longest path there can be.
"""

from __future__ import annotations

import contextlib
import errno
import heapq
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.workspace.folders import open_folder

_GONE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EXDEV)
# A folder in which a program makes and removes files all the time may never come to an end.
_MAX_FOLDER_NAMES = 1_000_000


class TooManyNames(InvalidRequest):
    def __init__(self, max_entries: int) -> None:
        super().__init__(f"there are more than {max_entries} files and folders, which is as many as are looked at in one go")


class TooDeep(InvalidRequest):
    def __init__(self) -> None:
        super().__init__("folders lie so deep in one another that their path is longer than 4095 bytes")


@dataclass(frozen=True, slots=True)
class WalkEntry:
    """folder_fd is the folder that holds it, and is open until the walk goes on."""

    path: str
    """Below the root of the walk."""
    folder_fd: int
    name: str
    status: os.stat_result

    @property
    def is_folder(self) -> bool:
        return stat.S_ISDIR(self.status.st_mode)

    @property
    def is_file(self) -> bool:
        return stat.S_ISREG(self.status.st_mode)

    @property
    def is_link(self) -> bool:
        return stat.S_ISLNK(self.status.st_mode)


def walk(files_fd: int, root: str, max_entries: int, *, recursive: bool = True) -> Iterator[WalkEntry]:
    """Everything below root, names in order, a folder before what it holds. Raises OSError where root itself cannot be opened,
    TooManyNames after as many as there may be, TooDeep."""
    first = open_folder(files_fd, root)
    waiting = [""]
    while waiting:
        below = waiting.pop()
        descriptor = _reopen(files_fd, root, below) if below else first
        if descriptor is None:
            continue
        deeper: list[str] = []
        try:
            for entry in _entries(descriptor, below, max_entries):
                max_entries -= 1
                yield entry
                if recursive and entry.is_folder:
                    deeper.append(entry.path)
        finally:
            os.close(descriptor)
        waiting.extend(reversed(deeper))


def _reopen(files_fd: int, root: str, below: str) -> int | None:
    """None when it is no folder any more."""
    try:
        return open_folder(files_fd, f"{root}/{below}" if root else below)
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise TooDeep from error
        if error.errno in _GONE:
            return None
        raise


def _entries(descriptor: int, below: str, max_entries: int) -> Iterator[WalkEntry]:
    names = _names(descriptor, max_entries + 1)
    for name in names[:max_entries]:
        with contextlib.suppress(FileNotFoundError):
            status = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
            yield WalkEntry(f"{below}/{name}" if below else name, descriptor, name, status)
    if len(names) > max_entries:
        raise TooManyNames(max_entries)


def _names(descriptor: int, max_entries: int) -> list[str]:
    """The first names in order. A huge folder is looked through, but only as many names as can be used are kept."""
    with os.scandir(descriptor) as entries:
        seen = (entry.name for entry in islice(entries, _MAX_FOLDER_NAMES))
        return heapq.nsmallest(max_entries, seen)


def read_link(entry: WalkEntry) -> str | None:
    """Where a link leads; None when it is gone, or something else by now."""
    try:
        return os.readlink(entry.name, dir_fd=entry.folder_fd)
    except OSError:
        return None
