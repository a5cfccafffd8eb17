"""An archive unpacked into a folder of an area: looked through once, and only when all of it is fit, written."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.workspace.archives import tars, zips
from sandbox_runtime.workspace.archives.members import ArchiveBounds, Member, MemberKind, check_members
from sandbox_runtime.workspace.area import Area, resolve_folder
from sandbox_runtime.workspace.extents import SparseWriter
from sandbox_runtime.workspace.folders import Owner, folder, make_folders, owner_of, parent, set_owner_and_mode
from sandbox_runtime.workspace.os_errors import show_name, translate_os_errors
from sandbox_runtime.workspace.syscalls import open_beneath

_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL


@dataclass(frozen=True, slots=True)
class UnpackResult:
    files: int
    size_bytes: int


def unpack(area: Area, name: str, file: BinaryIO, bounds: ArchiveBounds) -> UnpackResult:
    """The archive, a file that can seek, into the folder, which is made. Its kind is told by its first bytes. Files of the same
    name are replaced. Raises InvalidRequest; where the disk limit or damaged content ends it, what was unpacked by then stays."""
    for _ in _members(file, bounds):
        pass
    target = resolve_folder(area, name)
    owner = owner_of(area)
    with translate_os_errors(name or area.workdir, "written"):
        make_folders(area.files_fd, target.split("/"), owner)
        with folder(area.files_fd, target) as root_fd:
            return _ArchiveWriter(root_fd, owner).write(_members(file, bounds))


def _members(file: BinaryIO, bounds: ArchiveBounds) -> Iterator[Member]:
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    found = zips.members(file) if file.read(4).startswith(b"PK") else tars.members(file, size, bounds)
    return check_members(found, size, bounds)


class _ArchiveWriter:
    def __init__(self, root_fd: int, owner: Owner) -> None:
        self._root_fd = root_fd
        self._owner = owner
        self._files = 0
        self._bytes = 0
        self._folders: list[tuple[str, int]] = []

    def write(self, members: Iterator[Member]) -> UnpackResult:
        for member in members:
            with translate_os_errors(member.name, "written"):
                self._write(member)
        # Last, for a folder that forbids writing could not be filled.
        for name, mode in reversed(self._folders):
            with translate_os_errors(name, "written"), folder(self._root_fd, name) as descriptor:
                os.fchmod(descriptor, mode)
        return UnpackResult(self._files, self._bytes)

    def _write(self, member: Member) -> None:
        above = member.name.split("/")[:-1]
        if member.kind is MemberKind.folder:
            make_folders(self._root_fd, member.name.split("/"), self._owner)
            self._folders.append((member.name, member.mode))
            return
        make_folders(self._root_fd, above, self._owner)
        with parent(self._root_fd, member.name) as (folder_fd, name):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name, dir_fd=folder_fd)
            if member.kind is MemberKind.link:
                self._link(member, folder_fd, name)
            elif member.kind is MemberKind.hard_link:
                self._hard_link(member, folder_fd, name)
            else:
                self._file(member, folder_fd, name)
        self._files += 1

    def _link(self, member: Member, folder_fd: int, name: str) -> None:
        os.symlink(member.target, name, dir_fd=folder_fd)
        if self._owner:
            os.chown(name, *self._owner, dir_fd=folder_fd, follow_symlinks=False)

    def _hard_link(self, member: Member, folder_fd: int, name: str) -> None:
        try:
            with parent(self._root_fd, member.target) as (source_fd, source):
                os.link(source, name, src_dir_fd=source_fd, dst_dir_fd=folder_fd, follow_symlinks=False)
        except FileNotFoundError as error:
            raise InvalidRequest(f"the archive's {show_name(member.name)} is a second name of nothing") from error

    def _file(self, member: Member, folder_fd: int, name: str) -> None:
        descriptor = open_beneath(folder_fd, name, _CREATE, 0o600)
        try:
            set_owner_and_mode(descriptor, self._owner, member.mode)
            writer = SparseWriter(descriptor, member.size_bytes, member.extents)
            for chunk in member.content():
                writer.write(chunk)
                self._bytes += len(chunk)
            writer.finish()
            os.utime(descriptor, (member.modified_s, member.modified_s))
        except BaseException:
            # Half a file looks like a whole one, and takes the room that may be what is lacking.
            with contextlib.suppress(OSError):
                os.unlink(name, dir_fd=folder_fd)
            raise
        finally:
            os.close(descriptor)
