"""Files into a box.

Every file is created anew with O_EXCL: what a guest left under the name (a link, a FIFO, a file it holds open) is unlinked, never
written to. New files and folders get the workspace's owner, by descriptor, so that the program in the box can change them.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Sequence

from sandbox_runtime.errors import Conflict, InvalidRequest, PlatformFault, SandboxError
from sandbox_runtime.model import File
from sandbox_runtime.workspace.area import Area, place
from sandbox_runtime.workspace.openat2 import open_beneath

_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL
_FOLDER = os.O_RDONLY | os.O_DIRECTORY
_IN_THE_WAY = (errno.ELOOP, errno.ENOTDIR, errno.EXDEV, errno.EISDIR)
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_ATTEMPTS = 4


def stage(area: Area, files: Sequence[File]) -> None:
    """Write the files in order; a later one replaces an earlier one of the same name. How much may come in is for Quotas to
    say, before there is a box."""
    owner = _owner(area)
    for file in files:
        try:
            _write(area.files_fd, place(area, file.name), file, owner)
        except OSError as error:
            raise _told(error, file.name) from error


def link(area: Area, links: Sequence[tuple[str, str]]) -> None:
    """Put symbolic links (name, target) there. What they lead to is for the program alone: nothing of ours follows a link."""
    owner = _owner(area)
    for name, target in links:
        try:
            _link(area.files_fd, place(area, name), target, owner)
        except OSError as error:
            raise _told(error, name) from error


def _link(files_fd: int, path: str, target: str, owner: tuple[int, int] | None) -> None:
    parent, _, name = path.rpartition("/")
    _make_folders(files_fd, parent.split("/"), owner)
    folder = open_beneath(files_fd, parent, _FOLDER)
    try:
        os.symlink(target, name, dir_fd=folder)
        if owner:
            os.chown(name, *owner, dir_fd=folder, follow_symlinks=False)
    finally:
        os.close(folder)


def _owner(area: Area) -> tuple[int, int] | None:
    """Whom new files must be given to: the owner of the workspace. None when what we create has the right owner already."""
    status = os.stat(area.writable[area.workdir] or ".", dir_fd=area.files_fd, follow_symlinks=False)
    owner = (status.st_uid, status.st_gid)
    return None if owner == (os.geteuid(), os.getegid()) else owner


def _write(files_fd: int, path: str, file: File, owner: tuple[int, int] | None) -> None:
    descriptor = _create(files_fd, path, 0o755 if file.executable else 0o644, owner)
    try:
        if owner:
            os.fchown(descriptor, *owner)
        _write_all(descriptor, file.content)
    finally:
        os.close(descriptor)


def _write_all(descriptor: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]


def _create(files_fd: int, path: str, mode: int, owner: tuple[int, int] | None) -> int:
    for _ in range(_ATTEMPTS):
        try:
            return open_beneath(files_fd, path, _CREATE, mode)
        except FileNotFoundError:
            _make_folders(files_fd, path.split("/")[:-1], owner)
        except FileExistsError:
            _unlink(files_fd, path)
    raise Conflict(f"{path!r} could not be written: the program keeps putting something in its place")


def _make_folders(files_fd: int, parts: Sequence[str], owner: tuple[int, int] | None) -> None:
    """Step by step, each beneath the descriptor of the one before."""
    with contextlib.ExitStack() as held:
        here = files_fd
        for part in parts:
            made = _make_folder(here, part)
            here = open_beneath(here, part, _FOLDER)
            held.callback(os.close, here)
            if made and owner:
                os.fchown(here, *owner)


def _make_folder(folder_fd: int, name: str) -> bool:
    try:
        os.mkdir(name, 0o755, dir_fd=folder_fd)
    except FileExistsError:
        return False
    return True


def _unlink(files_fd: int, path: str) -> None:
    parent, _, name = path.rpartition("/")
    folder = open_beneath(files_fd, parent or ".", _FOLDER)
    try:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name, dir_fd=folder)
    finally:
        os.close(folder)


def _told(error: OSError, name: str) -> SandboxError:
    if error.errno in _IN_THE_WAY:
        return InvalidRequest(f"{name!r} cannot be written: a part of its path is a link or not a folder, or it names a folder")
    if error.errno == errno.ENAMETOOLONG:
        return InvalidRequest(f"a part of the file name is longer than 255 bytes: {name[:60]!r}…")
    if error.errno == errno.ENOENT:
        return Conflict(f"{name!r} could not be written: the program keeps removing the folder it belongs in")
    if error.errno in _FULL:
        return InvalidRequest(f"{name!r} does not fit into the box: its disk limit is reached")
    return PlatformFault(f"{name!r} could not be written into the box: {error.strerror}")
