"""What a step left in the workspace: the files that are new or changed since they were staged.

Meant to be called when every process of the step is dead, so that nothing changes while we look; what is looked at was made by
a guest all the same. So every open is confined as elsewhere in this room, and all is bounded: how many names are looked at, how
deep, how many bytes are read. Whatever cannot be told as plain files (a link, a device, a FIFO, a socket, a set-user-id bit, a
second name of the same file, an empty folder, a staged file that is gone) makes the whole of it unfit: half of what a step left
is worth nothing.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sandbox_runtime.model import File
from sandbox_runtime.workspace.area import Area, Quotas, resolve
from sandbox_runtime.workspace.fetch import read_up_to
from sandbox_runtime.workspace.syscalls import open_beneath

_FOLDER = os.O_RDONLY | os.O_DIRECTORY
_MAX_DEPTH = 32
_SPECIAL_BITS = stat.S_ISUID | stat.S_ISGID | stat.S_ISVTX
_ANY_MAY_EXECUTE = 0o111


@dataclass(frozen=True, slots=True)
class ChangedFiles:
    """unfit tells why files is empty although something was left; an empty text: files are all of it."""

    files: tuple[File, ...] = ()
    rejection: str = ""


class _Rejected(Exception):
    """Leaves the walk with the reason."""


def collect_changes(area: Area, staged: Sequence[File], links: Sequence[tuple[str, str]], quotas: Quotas) -> ChangedFiles:
    """staged and links are what was put there before the step; names that lie outside of the workspace are not looked at."""
    root = area.writable[area.workdir]
    before = {resolve(area, file.name): file for file in staged}
    before = {path: file for path, file in before.items() if path.startswith(f"{root}/")}
    try:
        return ChangedFiles(_changes(_Walk(area.files_fd, root, dict(_resolve_links(area, links)), quotas), before))
    except _Rejected as reason:
        return ChangedFiles(rejection=str(reason))
    except OSError as error:
        return ChangedFiles(rejection=f"a file cannot be read: {error.strerror}")


def _resolve_links(area: Area, links: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    for name, target in links:
        yield resolve(area, name), target


def _changes(walk: _Walk, before: Mapping[str, File]) -> tuple[File, ...]:
    found = dict(walk.files())
    for path, file in before.items():
        if path not in found:
            raise _Rejected(f"{file.name!r} is gone")
    return tuple(file for path, file in found.items() if path not in before or not _same(file, before[path]))


def _same(now: File, then: File) -> bool:
    return (now.content, now.executable) == (then.content, then.executable)


class _Walk:
    """Over the whole workspace, without following anything. links: path → target of those that were put there."""

    def __init__(self, files_fd: int, root: str, links: dict[str, str], quotas: Quotas) -> None:
        self._files_fd = files_fd
        self._root = root
        self._links = links
        self._quotas = quotas
        self._names_left = quotas.max_files
        self._bytes_left = quotas.max_total_bytes

    def files(self) -> Iterator[tuple[str, File]]:
        yield from self._below(self._root, _MAX_DEPTH)

    def _below(self, folder: str, deeper: int) -> Iterator[tuple[str, File]]:
        if not deeper:
            raise _Rejected(f"folders lie more than {_MAX_DEPTH} deep")
        names = self._names(folder)
        if not names and folder != self._root:
            raise _Rejected(f"{self._display(folder)} is an empty folder")
        for name in names:
            path = f"{folder}/{name}"
            if path in self._links:
                self._check_link(path)
            elif (content := self._regular(path)) is None:
                yield from self._below(path, deeper - 1)
            else:
                yield path, content

    def _names(self, folder: str) -> list[str]:
        """Sorted, so that the same files come out in the same order; counted while they are listed."""
        descriptor = open_beneath(self._files_fd, folder, _FOLDER)
        try:
            found = []
            with os.scandir(descriptor) as entries:
                for entry in entries:
                    self._names_left -= 1
                    if self._names_left < 0:
                        raise _Rejected(f"there are more than {self._quotas.max_files} files")
                    found.append(entry.name)
            return sorted(found)
        finally:
            os.close(descriptor)

    def _check_link(self, path: str) -> None:
        parent, _, name = path.rpartition("/")
        folder = open_beneath(self._files_fd, parent, _FOLDER)
        try:
            if os.readlink(name, dir_fd=folder) != self._links[path]:
                raise _Rejected(f"{self._display(path)} leads elsewhere")
        finally:
            os.close(folder)

    def _regular(self, path: str) -> File | None:
        """None for a folder."""
        descriptor = self._open(path)
        try:
            status = os.fstat(descriptor)
            if stat.S_ISDIR(status.st_mode):
                return None
            self._check(path, status)
            content = read_up_to(descriptor, self._bytes_left + 1)
        finally:
            os.close(descriptor)
        self._bytes_left -= len(content)
        if self._bytes_left < 0 or len(content) > self._quotas.max_file_bytes:
            raise _Rejected(f"the files are larger than the {self._quotas.max_total_bytes} bytes that may be kept")
        return File(self._workspace_name(path), content, bool(status.st_mode & _ANY_MAY_EXECUTE))

    def _open(self, path: str) -> int:
        """Opening is what a link or a socket refuses; a FIFO opens at once, and so would a device if a guest could make one."""
        try:
            return open_beneath(self._files_fd, path, os.O_RDONLY)
        except OSError as error:
            raise _Rejected(f"{self._display(path)} is a link or cannot be read") from error

    def _check(self, path: str, status: os.stat_result) -> None:
        if not stat.S_ISREG(status.st_mode):
            raise _Rejected(f"{self._display(path)} is no plain file")
        if status.st_mode & _SPECIAL_BITS:
            raise _Rejected(f"{self._display(path)} has special rights")
        if status.st_nlink != 1:
            raise _Rejected(f"{self._display(path)} has {status.st_nlink} names")
        if status.st_size > self._bytes_left:
            raise _Rejected(f"the files are larger than the {self._quotas.max_total_bytes} bytes that may be kept")

    def _workspace_name(self, path: str) -> str:
        """The name below the workspace."""
        name = path[len(self._root) + 1 :]
        try:
            name.encode()
        except UnicodeEncodeError:
            raise _Rejected(f"the name {self._display(path)} is no text") from None
        return name

    def _display(self, path: str) -> str:
        return ascii(path[len(self._root) + 1 :][:80])
