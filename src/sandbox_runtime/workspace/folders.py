"""Folders of an area by descriptor: opened, made with the right owner, and each closed again."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sandbox_runtime.errors import Conflict
from sandbox_runtime.workspace.area import Area
from sandbox_runtime.workspace.syscalls import open_beneath

Owner = tuple[int, int] | None
"""User and group whom new files are given to; None when what we create has the right owner already."""

_FOLDER = os.O_RDONLY | os.O_DIRECTORY


@contextlib.contextmanager
def open_descriptor(folder_fd: int, path: str, flags: int, mode: int = 0) -> Iterator[int]:
    descriptor = open_beneath(folder_fd, path, flags, mode)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def open_folder(folder_fd: int, path: str) -> int:
    return open_beneath(folder_fd, path or ".", _FOLDER)


@contextlib.contextmanager
def folder(folder_fd: int, path: str) -> Iterator[int]:
    descriptor = open_folder(folder_fd, path)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def parent(files_fd: int, path: str) -> Iterator[tuple[int, str]]:
    """The folder that holds a path, and the path's last part."""
    above, _, name = path.rpartition("/")
    with folder(files_fd, above) as descriptor:
        yield descriptor, name


def owner_of(area: Area) -> Owner:
    """The owner of the workspace."""
    status = os.stat(area.writable[area.workdir] or ".", dir_fd=area.files_fd, follow_symlinks=False)
    owner = (status.st_uid, status.st_gid)
    return None if owner == (os.geteuid(), os.getegid()) else owner


def make_folders(files_fd: int, parts: Sequence[str], owner: Owner) -> int:
    """Step by step, each beneath the one before; those that are there are left as they are. How many were made."""
    count, here = 0, files_fd
    try:
        for part in parts:
            made = _make_folder(here, part)
            # One is held at a time: a name may have two thousand parts.
            here, above = open_folder(here, part), here
            if above != files_fd:
                os.close(above)
            if made and owner:
                os.fchown(here, *owner)
            count += made
    finally:
        if here != files_fd:
            os.close(here)
    return count


def _make_folder(folder_fd: int, name: str) -> bool:
    try:
        os.mkdir(name, 0o755, dir_fd=folder_fd)
    except FileExistsError:
        return False
    return True


def set_owner_and_mode(descriptor: int, owner: Owner, mode: int) -> None:
    """The owner first: giving a file away takes bits from its mode."""
    if owner:
        os.fchown(descriptor, *owner)
    os.fchmod(descriptor, mode)


@dataclass(frozen=True, slots=True)
class _DuplicatedArea:
    files_fd: int
    writable: Mapping[str, str]
    workdir: str


@contextlib.contextmanager
def duplicate_area(area: Area) -> Iterator[Area]:
    """The area under a descriptor of our own: it may be closed while a thread is at work in it, and its number be used again."""
    if area.files_fd < 0:
        raise Conflict("these files are closed")
    held = _DuplicatedArea(os.dup(area.files_fd), area.writable, area.workdir)
    try:
        yield held
    finally:
        os.close(held.files_fd)
