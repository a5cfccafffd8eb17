"""All that lies in one area, copied into another: what a fork of a session begins with.

Files with their modes, times and holes, links as links, several names of one file as several names of one file. What is copied
belongs to the target's user. Sockets are left out, for nobody listens at a copy of one.
"""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import dataclass

from sandbox_runtime.workspace.area import Area
from sandbox_runtime.workspace.extents import data_extents
from sandbox_runtime.workspace.folders import Owner, folder, make_folders, open_folder, owner_of, parent, set_owner_and_mode
from sandbox_runtime.workspace.os_errors import translate_os_errors
from sandbox_runtime.workspace.syscalls import open_beneath
from sandbox_runtime.workspace.walk import WalkEntry, read_link, walk

_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL
_CHUNK_BYTES = 8 * 1024 * 1024
# No file system of the two can do it, or they are two.
_UNSUPPORTED = (errno.EXDEV, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL)
_GONE = (errno.ENOENT, errno.ELOOP, errno.ENXIO, errno.ENOTDIR)


@dataclass(frozen=True, slots=True)
class CopyResult:
    entries: int
    size_bytes: int
    """Of what was written: holes and further names of a file take nothing."""


def copy_area(source: Area, target: Area, *, max_entries: int = 1_000_000) -> CopyResult:
    """What is in the target's folders already stays, unless something of the same name comes and takes its place. The target is
    nobody's else: no program runs in it yet."""
    owner = owner_of(target)
    names: dict[int, str] = {}
    entries = size_bytes = 0
    # A folder may be seen under several names; it is copied once.
    places = {place: seen for seen, place in source.writable.items() if seen in target.writable}
    for place, seen in places.items():
        with translate_os_errors(seen, "copied"):
            copied = _AreaCopier(source.files_fd, place, target.files_fd, target.writable[seen], owner, names).copy(
                max_entries - entries
            )
        entries += copied.entries
        size_bytes += copied.size_bytes
    return CopyResult(entries, size_bytes)


class _AreaCopier:
    def __init__(self, source_fd: int, source: str, target_fd: int, target: str, owner: Owner, names: dict[int, str]) -> None:
        self._source_fd, self._source = source_fd, source
        self._target_fd, self._target = target_fd, target
        self._owner = owner
        self._names = names
        """Of files with several names: inode → the first one that was copied, below the target's descriptor."""
        self._folders: list[tuple[str, os.stat_result]] = []
        self._bytes = 0

    def copy(self, max_entries: int) -> CopyResult:
        make_folders(self._target_fd, self._target.split("/"), self._owner)
        count, above, target_fd = 0, None, -1
        try:
            for entry in walk(self._source_fd, self._source, max_entries):
                count += 1
                if (into := entry.path.rpartition("/")[0]) != above:
                    target_fd = self._next_folder(target_fd, into)
                    above = into
                self._place(entry, target_fd)
        finally:
            if target_fd >= 0:
                os.close(target_fd)
        self._finish_folders()
        return CopyResult(count, self._bytes)

    def _next_folder(self, descriptor: int, path: str) -> int:
        following = open_folder(self._target_fd, self._below(path))
        if descriptor >= 0:
            os.close(descriptor)
        return following

    def _below(self, path: str) -> str:
        return f"{self._target}/{path}" if path else self._target

    def _place(self, entry: WalkEntry, target_fd: int) -> None:
        try:
            self._copy(entry, target_fd)
        except FileExistsError:
            os.unlink(entry.name, dir_fd=target_fd)
            self._copy(entry, target_fd)

    def _copy(self, entry: WalkEntry, target_fd: int) -> None:
        if entry.is_folder:
            _make_folder(entry.name, target_fd)
            self._folders.append((entry.path, entry.status))
        elif entry.is_link:
            self._link(entry, target_fd)
        elif entry.is_file and not self._is_second_name(entry, target_fd):
            self._file(entry, target_fd)
        elif stat.S_ISFIFO(entry.status.st_mode):
            os.mkfifo(entry.name, stat.S_IMODE(entry.status.st_mode), dir_fd=target_fd)
            self._own(entry.name, target_fd)

    def _link(self, entry: WalkEntry, target_fd: int) -> None:
        if (leads_to := read_link(entry)) is not None:
            os.symlink(leads_to, entry.name, dir_fd=target_fd)
            self._own(entry.name, target_fd)

    def _own(self, name: str, folder_fd: int) -> None:
        if self._owner:
            os.chown(name, *self._owner, dir_fd=folder_fd, follow_symlinks=False)

    def _is_second_name(self, entry: WalkEntry, target_fd: int) -> bool:
        if entry.status.st_nlink < 2:
            return False
        here = self._below(entry.path)
        first = self._names.setdefault(entry.status.st_ino, here)
        if first == here:
            return False
        with parent(self._target_fd, first) as (first_fd, name):
            os.link(name, entry.name, src_dir_fd=first_fd, dst_dir_fd=target_fd, follow_symlinks=False)
        return True

    def _file(self, entry: WalkEntry, target_fd: int) -> None:
        try:
            descriptor = open_beneath(entry.folder_fd, entry.name, os.O_RDONLY)
        except OSError as error:
            if error.errno not in _GONE:
                raise
            self._names.pop(entry.status.st_ino, None)
            return
        try:
            status = os.fstat(descriptor)
            if stat.S_ISREG(status.st_mode):
                self._content(descriptor, status, entry.name, target_fd)
        finally:
            os.close(descriptor)

    def _content(self, descriptor: int, status: os.stat_result, name: str, target_fd: int) -> None:
        copy_fd = open_beneath(target_fd, name, _CREATE, 0o600)
        try:
            self._bytes += copy_bytes(descriptor, copy_fd, status.st_size)
            set_owner_and_mode(copy_fd, self._owner, stat.S_IMODE(status.st_mode) & 0o777)
            os.utime(copy_fd, ns=(status.st_atime_ns, status.st_mtime_ns))
        finally:
            os.close(copy_fd)

    def _finish_folders(self) -> None:
        """Modes and times last: filling a folder changes its time, and its mode may forbid to fill it."""
        for path, status in reversed(self._folders):
            with folder(self._target_fd, self._below(path)) as descriptor:
                set_owner_and_mode(descriptor, self._owner, stat.S_IMODE(status.st_mode) & 0o1777)
                os.utime(descriptor, ns=(status.st_atime_ns, status.st_mtime_ns))


def _make_folder(name: str, folder_fd: int) -> None:
    try:
        os.mkdir(name, 0o700, dir_fd=folder_fd)
    except FileExistsError:
        if not stat.S_ISDIR(os.stat(name, dir_fd=folder_fd, follow_symlinks=False).st_mode):
            raise


def copy_bytes(source_fd: int, target_fd: int, size: int) -> int:
    """Copy up to size bytes, holes as holes. Return how many were written."""
    written = 0
    for offset, length in data_extents(source_fd, 0, size):
        end = offset + length
        while offset < end and (copied := _copy_range(source_fd, target_fd, offset, end)):
            written += copied
            offset += copied
    os.ftruncate(target_fd, size)
    return written


def _copy_range(source_fd: int, target_fd: int, offset: int, end: int) -> int:
    wanted = min(end - offset, _CHUNK_BYTES)
    try:
        return os.copy_file_range(source_fd, target_fd, wanted, offset, offset)
    except OSError as error:
        if error.errno not in _UNSUPPORTED:
            raise
    os.lseek(target_fd, offset, os.SEEK_SET)
    return os.sendfile(target_fd, source_fd, offset, wanted)
