"""What is in an area now, without a look at any content."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Sequence
from dataclasses import dataclass

from sandbox_runtime.workspace.area import Area, resolve_folder
from sandbox_runtime.workspace.os_errors import translate_os_errors
from sandbox_runtime.workspace.snapshots.manifest import SnapshotEntry, SnapshotEntryKind
from sandbox_runtime.workspace.walk import WalkEntry, read_link, walk

# Clocks of file systems stand still for up to ten milliseconds: a file that changed so lately may change again without a sign.
UNSURE_NS = 20_000_000


@dataclass(frozen=True, slots=True)
class Stamp:
    """The same stamp, the same content: the kernel sets the change time, and no program can."""

    inode: int
    size_bytes: int
    modified_ns: int
    changed_ns: int


@dataclass(frozen=True, slots=True)
class ScannedEntry:
    entry: SnapshotEntry
    """Without the bytes' whereabouts."""
    stamp: Stamp | None = None
    """Of a plain file; None where it changed too lately to tell."""
    real_bytes: int = 0
    """Of a plain file: what it takes on the disk, which is less than its size where it has holes."""


def scan_area(area: Area, folders: Sequence[str], max_entries: int) -> list[ScannedEntry]:
    """Plain files, folders and links below the folders; FIFOs, sockets and devices are not kept."""
    now_ns = time.time_ns()
    first_names: dict[int, str] = {}
    found: list[ScannedEntry] = []
    for folder in folders:
        with translate_os_errors(folder, "looked through"):
            for item in walk(area.files_fd, resolve_folder(area, folder), max_entries - len(found)):
                if seen := _seen(item, f"{folder}/{item.path}", first_names, now_ns):
                    found.append(seen)
    return found


def stamp_of(status: os.stat_result) -> Stamp:
    return Stamp(status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def _seen(item: WalkEntry, path: str, first_names: dict[int, str], now_ns: int) -> ScannedEntry | None:
    status = item.status
    mode = stat.S_IMODE(status.st_mode) & 0o1777
    if item.is_folder:
        return ScannedEntry(SnapshotEntry(path, SnapshotEntryKind.folder, mode, status.st_mtime_ns))
    if item.is_link:
        target = read_link(item)
        return None if target is None else ScannedEntry(SnapshotEntry(path, SnapshotEntryKind.link, target=target))
    if not item.is_file:
        return None
    if status.st_nlink > 1 and (first := first_names.setdefault(status.st_ino, path)) != path:
        return ScannedEntry(SnapshotEntry(path, SnapshotEntryKind.name, target=first))
    sure = status.st_ctime_ns < now_ns - UNSURE_NS
    entry = SnapshotEntry(path, SnapshotEntryKind.file, mode & 0o777, status.st_mtime_ns, size_bytes=status.st_size)
    return ScannedEntry(entry, stamp_of(status) if sure else None, min(status.st_size, status.st_blocks * 512))
