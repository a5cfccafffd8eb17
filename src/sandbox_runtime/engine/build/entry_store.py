"""Entries on disk: one file each, named by its key, in a folder private to the server.

An entry is written to a temporary name and renamed, so that readers see a whole entry or none, and several servers can share
the folder. Reading touches an entry; when the total exceeds the bound, the least recently used entries are evicted. The total
is counted when the folder is opened and updated from then on. It is counted again before an eviction, because another server
may have written or evicted entries.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import stat
from collections.abc import Iterator, Sequence

from sandbox_runtime.errors import Unavailable
from sandbox_runtime.workspace.ledger import Charge

_EVICT_TO = 0.9
"""Share of the bound that remains after an eviction, so that not every new entry evicts."""
_ENTRY = re.compile(r"[0-9a-f]{64}")
_PARTIAL = ".begun-"
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC


class BuildStore:
    """Thread-safe: concurrent calls interleave only at renames, unlinks or an outdated total."""

    def __init__(self, folder: str, max_bytes: int, charge: Charge | None = None) -> None:
        self._charge = charge
        self._folder = folder
        self._max_bytes = max_bytes
        self._total_bytes = 0

    def open(self) -> None:
        """Create and check the folder. Raises Unavailable if it cannot be private to the server."""
        try:
            os.makedirs(self._folder, mode=0o700, exist_ok=True)
            status = os.stat(self._folder)
        except OSError as error:
            raise Unavailable(f"the folder for builds {self._folder} is unusable: {error.strerror}") from error
        if status.st_uid != os.geteuid() or stat.S_IMODE(status.st_mode) & 0o077:
            raise Unavailable(
                f"the folder for builds {self._folder} must belong to the server's user and be closed to all others"
            )
        self._sweep()
        self._set_total(sum(size for _, size, _ in self._entries()))

    def _set_total(self, size: int) -> None:
        self._total_bytes = size
        if self._charge is not None:
            self._charge.resize(size, force=True)

    def read(self, key: str) -> bytes | None:
        path = self._path(key)
        try:
            with open(path, "rb") as file:
                content = file.read()
            os.utime(path)
        except OSError:
            return None
        return content

    def write(self, key: str, content: Sequence[bytes]) -> None:
        """Store an entry. Raises OSError if it cannot be written, StorageFull if the node has no room."""
        size = sum(map(len, content))
        if self._charge is not None:
            self._charge.resize(self._total_bytes + size)
        partial = os.path.join(self._folder, f"{_PARTIAL}{os.getpid()}-{secrets.token_hex(8)}")
        try:
            with os.fdopen(os.open(partial, _CREATE, 0o600), "wb") as file:
                file.writelines(content)
            os.rename(partial, self._path(key))
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(partial)
            self._set_total(self._total_bytes)
            raise
        self._set_total(self._total_bytes + size)
        if self._total_bytes > self._max_bytes:
            self._evict()

    def drop(self, key: str) -> None:
        with contextlib.suppress(OSError):
            os.unlink(self._path(key))

    def _path(self, key: str) -> str:
        return os.path.join(self._folder, key)

    def _entries(self) -> list[tuple[float, int, str]]:
        """Return last use, size and name of each entry."""
        return [(status.st_mtime, status.st_size, name) for name, status in self._files() if _ENTRY.fullmatch(name)]

    def _files(self) -> Iterator[tuple[str, os.stat_result]]:
        with os.scandir(self._folder) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    yield entry.name, entry.stat(follow_symlinks=False)

    def _evict(self) -> None:
        entries = sorted(self._entries())
        total = sum(size for _, size, _ in entries)
        for _, size, name in entries:
            if total <= self._max_bytes * _EVICT_TO:
                break
            self.drop(name)
            total -= size
        self._set_total(total)

    def _sweep(self) -> None:
        """Remove partial entries of servers that were killed."""
        for name, _ in list(self._files()):
            if name.startswith(_PARTIAL) and not _alive(name):
                self.drop(name)


def _alive(partial: str) -> bool:
    number = partial.removeprefix(_PARTIAL).partition("-")[0]
    return number.isdecimal() and os.path.exists(f"/proc/{number}")
