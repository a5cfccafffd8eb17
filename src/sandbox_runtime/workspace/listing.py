"""What is there: one entry, or those of a folder. Links are told as links, never followed."""

from __future__ import annotations

import enum
import os
import stat
from collections.abc import Collection
from dataclasses import dataclass

from sandbox_runtime.workspace.area import Area, resolve, resolve_folder
from sandbox_runtime.workspace.folders import parent
from sandbox_runtime.workspace.os_errors import translate_os_errors
from sandbox_runtime.workspace.walk import TooDeep, TooManyNames, WalkEntry, walk

_MAX_SCANNED = 100_000


class EntryKind(enum.StrEnum):
    file = enum.auto()
    folder = enum.auto()
    link = enum.auto()
    other = enum.auto()
    """A FIFO, a socket, a device."""


@dataclass(frozen=True, slots=True)
class Entry:
    name: str
    """As it was asked for; in a listing, below the folder that was listed."""
    kind: EntryKind
    size_bytes: int
    mode: int
    """The permission bits."""
    modified_ns: int
    etag: str
    """Changes with the content."""
    nameable: bool = True
    """False: the name is no text. It is shown with replacements and cannot be asked for, but its folder can."""

    @property
    def modified_s(self) -> float:
        return self.modified_ns / 1e9


@dataclass(frozen=True, slots=True)
class Listing:
    entries: tuple[Entry, ...]
    truncated: bool = False
    """There is more than was asked for, or than is looked at in one go."""


def list_folder(
    area: Area,
    name: str = "",
    *,
    recursive: bool = False,
    limit: int = 1000,
    hidden: bool = True,
    leave_out: Collection[str] = (),
) -> Listing:
    """Sorted by name. hidden: whether names that begin with a dot, and what lies below them, are shown. leave_out: names
    directly in that folder that are not."""
    entries: list[Entry] = []
    truncated = False
    try:
        with translate_os_errors(name or area.workdir, "listed"):
            for found in walk(area.files_fd, resolve_folder(area, name), _MAX_SCANNED, recursive=recursive):
                if found.path not in leave_out and (hidden or not _is_hidden(found.path)):
                    entries.append(_walk_to_entry(found))
    except (TooManyNames, TooDeep):
        truncated = True
    entries.sort(key=lambda entry: entry.name)
    return Listing(tuple(entries[:limit]), truncated or len(entries) > limit)


def stat_entry(area: Area, name: str) -> Entry:
    """Raises NotFound."""
    path = resolve(area, name)
    with translate_os_errors(name, "looked at"), parent(area.files_fd, path) as (folder_fd, last):
        return to_entry(name, os.stat(last, dir_fd=folder_fd, follow_symlinks=False))


def to_entry(name: str, status: os.stat_result) -> Entry:
    text = name.encode(errors="surrogateescape").decode(errors="replace")
    etag = f"{status.st_ino:x}-{status.st_size:x}-{status.st_mtime_ns:x}"
    mode = stat.S_IMODE(status.st_mode)
    return Entry(text, _kind(status.st_mode), status.st_size, mode, status.st_mtime_ns, etag, text == name)


def _walk_to_entry(found: WalkEntry) -> Entry:
    return to_entry(found.path, found.status)


def _kind(mode: int) -> EntryKind:
    kinds = {stat.S_IFREG: EntryKind.file, stat.S_IFDIR: EntryKind.folder, stat.S_IFLNK: EntryKind.link}
    return kinds.get(stat.S_IFMT(mode), EntryKind.other)


def _is_hidden(path: str) -> bool:
    return path.startswith(".") or "/." in path
