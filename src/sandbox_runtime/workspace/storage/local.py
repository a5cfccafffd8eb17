"""A storage in a folder of this machine: a file for each key.

A file gets its name when all of its bytes are on the disk. Only the server writes here, and yet every file is reached as
elsewhere in this room, beneath the folder's descriptor: a key can lead nowhere else.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import time
from collections.abc import AsyncIterable, AsyncIterator, Generator, Sequence
from types import TracebackType
from typing import Self

from sandbox_runtime.errors import NotFound, Unavailable
from sandbox_runtime.workspace.folders import folder, make_folders, open_descriptor, parent
from sandbox_runtime.workspace.os_errors import show_name
from sandbox_runtime.workspace.staging import write_all
from sandbox_runtime.workspace.storage.port import StoredObject, check_key
from sandbox_runtime.workspace.threads import in_thread, iterate_in_thread, rechunk_async
from sandbox_runtime.workspace.walk import WalkEntry, walk

_CHUNK_BYTES = 256 * 1024
_INCOMING = ".incoming"
_STALE_AFTER_S = 3600.0
_ATTEMPTS = 8
_MAX_LISTED = 1_000_000
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL


class LocalStorage:
    name = "local"

    def __init__(self, root: str) -> None:
        self._root = root
        self._root_fd = -1

    def __enter__(self) -> Self:
        try:
            os.makedirs(os.path.join(self._root, _INCOMING), mode=0o700, exist_ok=True)
            self._root_fd = os.open(self._root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise Unavailable(f"the storage folder {self._root} cannot be used: {error.strerror}") from error
        self._delete_stale_parts()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        descriptor, self._root_fd = self._root_fd, -1
        os.close(descriptor)

    def _delete_stale_parts(self) -> None:
        """What a server that was killed had begun. Another one may share the folder, so what is young is left alone."""
        for found in list(walk(self._root_fd, _INCOMING, _MAX_LISTED)):
            if found.status.st_mtime < time.time() - _STALE_AFTER_S:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(f"{_INCOMING}/{found.path}", dir_fd=self._root_fd)

    async def put(self, key: str, source: AsyncIterable[bytes]) -> int:
        check_key(key)
        part = f"{_INCOMING}/{secrets.token_hex(16)}"
        with _as_unavailable(), open_descriptor(self._root_fd, part, _CREATE, 0o600) as descriptor:
            try:
                size = 0
                async for chunk in rechunk_async(source, _CHUNK_BYTES):
                    await _write_chunk(descriptor, chunk)
                    size += len(chunk)
                await in_thread(lambda: self._keep(descriptor, part, key))
                return size
            except BaseException:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(part, dir_fd=self._root_fd)
                raise

    def _keep(self, descriptor: int, part: str, key: str) -> None:
        os.fdatasync(descriptor)
        for attempt in range(_ATTEMPTS):
            try:
                self._name(part, key)
                return
            except FileNotFoundError:
                # The folder was empty for a moment, and a delete() took it away.
                if attempt == _ATTEMPTS - 1:
                    raise

    def _name(self, part: str, key: str) -> None:
        make_folders(self._root_fd, key.split("/")[:-1], None)
        with parent(self._root_fd, key) as (folder_fd, name):
            os.replace(part, name, src_dir_fd=self._root_fd, dst_dir_fd=folder_fd)

    async def get(self, key: str, offset: int = 0, length: int | None = None) -> AsyncIterator[bytes]:
        check_key(key)
        with _as_unavailable():
            async with contextlib.aclosing(iterate_in_thread(self._read(key, offset, length))) as found:
                async for chunk in found:
                    yield chunk

    def _read(self, key: str, offset: int, length: int | None) -> Generator[bytes, None, None]:
        with _missing(key), open_descriptor(self._root_fd, key, os.O_RDONLY) as descriptor:
            end = os.fstat(descriptor).st_size
            end = end if length is None else min(end, offset + length)
            while offset < end and (chunk := os.pread(descriptor, min(_CHUNK_BYTES, end - offset), offset)):
                offset += len(chunk)
                yield chunk

    async def stat(self, key: str) -> StoredObject:
        check_key(key)
        with _as_unavailable():
            return await in_thread(lambda: self._stat(key))

    def _stat(self, key: str) -> StoredObject:
        with _missing(key), parent(self._root_fd, key) as (folder_fd, name):
            return _stored(key, os.stat(name, dir_fd=folder_fd, follow_symlinks=False))

    async def list(self, prefix: str, limit: int = 1000) -> Sequence[StoredObject]:
        with _as_unavailable():
            return await in_thread(lambda: self._list(prefix, limit))

    def _list(self, prefix: str, limit: int) -> Sequence[StoredObject]:
        """Looks at the innermost folder that holds all of them, and not at the others."""
        above = prefix.rpartition("/")[0]
        try:
            found = [_to_stored(above, item) for item in walk(self._root_fd, above, _MAX_LISTED) if item.is_file]
        except (FileNotFoundError, NotADirectoryError):
            return ()
        fit = [stored for stored in found if stored.key.startswith(prefix) and not stored.key.startswith(f"{_INCOMING}/")]
        return sorted(fit, key=lambda stored: stored.key)[:limit]

    async def delete(self, keys: Sequence[str]) -> None:
        for key in keys:
            check_key(key)
        with _as_unavailable():
            await in_thread(lambda: self._delete_all(keys))

    def _delete_all(self, keys: Sequence[str]) -> None:
        for key in keys:
            self._delete(key)

    def _delete(self, key: str) -> None:
        with contextlib.suppress(FileNotFoundError), parent(self._root_fd, key) as (folder_fd, name):
            os.unlink(name, dir_fd=folder_fd)
        self._prune(key.rpartition("/")[0])

    def _prune(self, path: str) -> None:
        """Folders that hold nothing any more; one that another put() has just come to need is made again by it."""
        while path:
            above, _, name = path.rpartition("/")
            try:
                with folder(self._root_fd, above) as descriptor:
                    os.rmdir(name, dir_fd=descriptor)
            except OSError:
                return
            path = above

    async def presign(self, key: str, expires_s: int, filename: str = "") -> str | None:
        return None

    async def check(self) -> None:
        with _as_unavailable():
            await in_thread(lambda: os.stat(_INCOMING, dir_fd=self._root_fd))


async def _write_chunk(descriptor: int, chunk: bytes) -> None:
    await in_thread(lambda: write_all(descriptor, chunk))


def _to_stored(above: str, found: WalkEntry) -> StoredObject:
    return _stored(f"{above}/{found.path}" if above else found.path, found.status)


def _stored(key: str, status: os.stat_result) -> StoredObject:
    return StoredObject(key, status.st_size, status.st_mtime, f"{status.st_ino:x}-{status.st_size:x}-{status.st_mtime_ns:x}")


@contextlib.contextmanager
def _missing(key: str) -> Generator[None, None, None]:
    try:
        yield
    except (FileNotFoundError, NotADirectoryError) as error:
        raise NotFound(f"the storage holds nothing under {show_name(key)}") from error


@contextlib.contextmanager
def _as_unavailable() -> Generator[None, None, None]:
    try:
        yield
    except OSError as error:
        raise Unavailable(f"the storage folder cannot be used: {error.strerror}") from error
