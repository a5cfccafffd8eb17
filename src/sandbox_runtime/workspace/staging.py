"""Files into a box.

Every file is created anew with O_EXCL: what a guest left under the name (a link, a FIFO, a file it holds open) is replaced,
never written to, and in one step, so that a program that looks for it meanwhile finds the one or the other. New files and
folders get the workspace's owner, by descriptor, so that the program in the box can change them.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from collections.abc import Sequence

from sandbox_runtime.errors import Conflict, SandboxError
from sandbox_runtime.model import File
from sandbox_runtime.workspace.area import Area, resolve
from sandbox_runtime.workspace.folders import Owner, make_folders, owner_of, parent
from sandbox_runtime.workspace.os_errors import to_sandbox_error
from sandbox_runtime.workspace.syscalls import open_beneath

_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL
_ATTEMPTS = 4


def stage(area: Area, files: Sequence[File]) -> None:
    """Write the files in order; a later one replaces an earlier one of the same name. How much may come in is for Quotas to
    say, before there is a box."""
    owner = owner_of(area)
    for file in files:
        try:
            _write(area.files_fd, resolve(area, file.name), file, owner)
        except OSError as error:
            raise _staging_error(error, file.name) from error


def link(area: Area, links: Sequence[tuple[str, str]]) -> None:
    """Put symbolic links (name, target) there. What they lead to is for the program alone: nothing of ours follows a link."""
    owner = owner_of(area)
    for name, target in links:
        try:
            _link(area.files_fd, resolve(area, name), target, owner)
        except OSError as error:
            raise _staging_error(error, name) from error


def _link(files_fd: int, path: str, target: str, owner: Owner) -> None:
    make_folders(files_fd, path.split("/")[:-1], owner)
    with parent(files_fd, path) as (folder_fd, name):
        os.symlink(target, name, dir_fd=folder_fd)
        if owner:
            os.chown(name, *owner, dir_fd=folder_fd, follow_symlinks=False)


def _write(files_fd: int, path: str, file: File, owner: Owner) -> None:
    mode = 0o755 if file.executable else 0o644
    for _ in range(_ATTEMPTS):
        try:
            descriptor = open_beneath(files_fd, path, _CREATE, mode)
        except FileNotFoundError:
            make_folders(files_fd, path.split("/")[:-1], owner)
        except FileExistsError:
            _replace(files_fd, path, file.content, mode, owner)
            return
        else:
            _fill(descriptor, file.content, owner)
            return
    raise Conflict(f"{path!r} could not be written: the program keeps removing the folder it belongs in")


def _fill(descriptor: int, content: bytes, owner: Owner) -> None:
    try:
        if owner:
            os.fchown(descriptor, *owner)
        write_all(descriptor, content)
    finally:
        os.close(descriptor)


def _replace(files_fd: int, path: str, content: bytes, mode: int, owner: Owner) -> None:
    """By one of another name that takes its place when it is complete."""
    with parent(files_fd, path) as (folder_fd, name):
        passing = f".staged-{secrets.token_hex(8)}"
        descriptor = os.open(passing, _CREATE | os.O_CLOEXEC, mode, dir_fd=folder_fd)
        try:
            _fill(descriptor, content, owner)
            os.rename(passing, name, src_dir_fd=folder_fd, dst_dir_fd=folder_fd)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(passing, dir_fd=folder_fd)
            raise


def write_all(descriptor: int, content: bytes | memoryview) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]


def _staging_error(error: OSError, name: str) -> SandboxError:
    if error.errno == errno.ENOENT:
        return Conflict(f"{name!r} could not be written: the program keeps removing the folder it belongs in")
    return to_sandbox_error(error, name, "written")
