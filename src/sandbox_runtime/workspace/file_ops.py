"""Folders made, names changed, things deleted."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat

from sandbox_runtime.errors import Conflict, InvalidRequest
from sandbox_runtime.workspace.area import Area, resolve
from sandbox_runtime.workspace.folders import folder, make_folders, owner_of, parent
from sandbox_runtime.workspace.os_errors import show_name, translate_os_errors
from sandbox_runtime.workspace.syscalls import rename
from sandbox_runtime.workspace.walk import TooDeep, TooManyNames, walk

_BATCH_SIZE = 100_000


def make_folder(area: Area, name: str) -> bool:
    """With the folders above it. False where it is there already."""
    path = resolve(area, name)
    with translate_os_errors(name, "made"):
        return make_folders(area.files_fd, path.split("/"), owner_of(area)) > 0


def move(area: Area, source: str, target: str, *, replace: bool = False) -> None:
    """A file or folder gets another name; the folders above it are made. Raises Conflict where the name is taken and replace is
    False; a folder that is not empty is never replaced."""
    old, new = resolve(area, source), resolve(area, target)
    if new == old or new.startswith(f"{old}/"):
        raise InvalidRequest(f"{show_name(source)} cannot be moved to itself or below itself")
    with translate_os_errors(source, "moved"), parent(area.files_fd, old) as (old_fd, old_name):
        os.stat(old_name, dir_fd=old_fd, follow_symlinks=False)
        with translate_os_errors(target, "the new name"):
            make_folders(area.files_fd, new.split("/")[:-1], owner_of(area))
            with parent(area.files_fd, new) as (new_fd, new_name):
                rename(old_fd, old_name, new_fd, new_name, replace=replace)


def delete(area: Area, name: str, *, recursive: bool = False, max_entries: int = 1_000_000) -> int:
    """How many files and folders went. Raises Conflict for a folder that is not empty unless recursive, and for one that a
    program keeps filling: at most `most` are deleted."""
    path = resolve(area, name)
    with translate_os_errors(name, "deleted"), parent(area.files_fd, path) as (folder_fd, last):
        if not stat.S_ISDIR(os.stat(last, dir_fd=folder_fd, follow_symlinks=False).st_mode):
            os.unlink(last, dir_fd=folder_fd)
            return 1
        gone = _FolderEmptier(folder_fd, last, max_entries).empty() if recursive else 0
        os.rmdir(last, dir_fd=folder_fd)
        return gone + 1


class _FolderEmptier:
    """A folder, with all that lies below it, again and again until a look finds nothing."""

    def __init__(self, folder_fd: int, name: str, max_entries: int) -> None:
        self._folder_fd = folder_fd
        self._name = name
        self._most = self._left = max_entries

    def empty(self) -> int:
        before = -1
        while before != self._left:
            before = self._left
            self._pass()
        return self._most - self._left

    def _pass(self) -> None:
        """One look at as many names as fit; folders come after what they hold, so they go last."""
        folders: list[str] = []
        try:
            for entry in walk(self._folder_fd, self._name, _BATCH_SIZE):
                if entry.is_folder:
                    folders.append(entry.path)
                else:
                    self._unlink(entry.folder_fd, entry.name)
        except TooManyNames:
            pass
        except TooDeep:
            self._lift(folders[-1])
        with contextlib.suppress(FileNotFoundError), folder(self._folder_fd, self._name) as root_fd:
            for path in reversed(folders):
                self._remove(root_fd, path)

    def _unlink(self, folder_fd: int, name: str) -> None:
        with contextlib.suppress(FileNotFoundError, IsADirectoryError):
            os.unlink(name, dir_fd=folder_fd)
            self._count()

    def _remove(self, root_fd: int, path: str) -> None:
        try:
            with parent(root_fd, path) as (folder_fd, name):
                os.rmdir(name, dir_fd=folder_fd)
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ENOTEMPTY, errno.ENOTDIR, errno.ELOOP):
                raise
        else:
            self._count()

    def _lift(self, path: str) -> None:
        """A folder that no path reaches below is moved up, where the next look can go on."""
        with folder(self._folder_fd, self._name) as root_fd, contextlib.suppress(FileNotFoundError):
            half = "/".join(path.split("/")[: path.count("/") // 2 + 1])
            with parent(root_fd, half) as (folder_fd, name):
                rename(folder_fd, name, root_fd, secrets.token_hex(8), replace=False)
        self._count()

    def _count(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise Conflict(
                f"{show_name(self._name)} still holds files after {self._most} of them were deleted; stop what makes them"
            )
