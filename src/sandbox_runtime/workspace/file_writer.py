"""One file into an area, piece by piece.

The bytes go into a file with a name of its own in the same folder, which takes the place of the one that was asked for when all
of them are there: nobody sees half a file, and what a guest left under the name (a link, a FIFO) is replaced, not written to.
"""

from __future__ import annotations

import contextlib
import os
import secrets

from sandbox_runtime.errors import Conflict, InvalidRequest
from sandbox_runtime.workspace.area import Area, resolve
from sandbox_runtime.workspace.folders import make_folders, open_folder, owner_of, set_owner_and_mode
from sandbox_runtime.workspace.listing import Entry, to_entry
from sandbox_runtime.workspace.os_errors import show_name, translate_os_errors
from sandbox_runtime.workspace.staging import write_all
from sandbox_runtime.workspace.syscalls import open_beneath, rename

_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL
_ATTEMPTS = 4
_RIGHTS = 0o777


class Upload:
    """open, write as often as need be, commit; close in any case. Every piece may say that the disk limit is reached."""

    def __init__(self, area: Area, name: str, *, mode: int = 0o644, max_bytes: int | None = None, replace: bool = True) -> None:
        check_mode(mode)
        self._area, self._name, self._mode, self._max_bytes, self._replace = area, name, mode, max_bytes, replace
        self._above, _, self._last = resolve(area, name).rpartition("/")
        self._part = f".{secrets.token_hex(8)}.part"
        self._folder_fd = self._descriptor = -1
        self.size_bytes = 0

    def open(self) -> None:
        with translate_os_errors(self._name, "written"):
            owner = owner_of(self._area)
            self._folder_fd = _make_and_open(self._area.files_fd, self._above, owner)
            self._descriptor = open_beneath(self._folder_fd, self._part, _CREATE, 0o600)
            set_owner_and_mode(self._descriptor, owner, self._mode)

    def write(self, chunk: bytes) -> None:
        self.size_bytes += len(chunk)
        if self._max_bytes is not None and self.size_bytes > self._max_bytes:
            raise InvalidRequest(f"{show_name(self._name)} has more than the {self._max_bytes} bytes that one file may have")
        with translate_os_errors(self._name, "written"):
            write_all(self._descriptor, chunk)

    def commit(self) -> Entry:
        """The file has its name from now on. Raises Conflict where there is one already and it must not be replaced."""
        with translate_os_errors(self._name, "written"):
            status = os.fstat(self._descriptor)
            rename(self._folder_fd, self._part, self._folder_fd, self._last, replace=self._replace)
        self._part = ""
        return to_entry(self._name, status)

    def close(self) -> None:
        """Idempotent. What was not committed is gone."""
        if self._part and self._folder_fd >= 0:
            with contextlib.suppress(OSError):
                os.unlink(self._part, dir_fd=self._folder_fd)
        for descriptor in (self._descriptor, self._folder_fd):
            if descriptor >= 0:
                os.close(descriptor)
        self._descriptor = self._folder_fd = -1


def check_mode(mode: int) -> None:
    if not 0 <= mode <= _RIGHTS:
        raise InvalidRequest(f"a mode is made of permission bits, 0 to 0o777, not {oct(mode)}")


def _make_and_open(files_fd: int, path: str, owner: tuple[int, int] | None) -> int:
    for _ in range(_ATTEMPTS):
        try:
            return open_folder(files_fd, path)
        except FileNotFoundError:
            with contextlib.suppress(FileNotFoundError):
                make_folders(files_fd, path.split("/"), owner)
    raise Conflict("the file could not be written: the program keeps removing the folder it belongs in")
