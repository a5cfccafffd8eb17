"""The files of a session, for whoever has an event loop: every verb of this room on one area, in threads, streaming."""

from __future__ import annotations

import contextlib
import hashlib
import tempfile
from collections.abc import AsyncIterable, AsyncIterator, Callable, Collection
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import BinaryIO, Protocol, TypeVar

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.model.limits import MIB
from sandbox_runtime.workspace import file_ops, file_reader, listing, watcher
from sandbox_runtime.workspace.archives import ArchiveBounds, Format, UnpackResult, pack, unpack
from sandbox_runtime.workspace.area import Area
from sandbox_runtime.workspace.copy import CopyResult, copy_area
from sandbox_runtime.workspace.digest import Digests, digest_area
from sandbox_runtime.workspace.file_reader import OpenFile, Slice
from sandbox_runtime.workspace.file_writer import Upload
from sandbox_runtime.workspace.folders import duplicate_area
from sandbox_runtime.workspace.ledger import Charge
from sandbox_runtime.workspace.listing import Entry, Listing
from sandbox_runtime.workspace.threads import in_thread, iterate_in_thread, rechunk_async

_CHUNK_BYTES = 256 * 1024

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class FileBounds:
    max_file_bytes: int = 100 * MIB
    """Of one upload, archives included. What lies in the area is bounded by its disk limit."""
    max_read_bytes: int = 16 * MIB
    """Of one slice, which is in memory as a whole."""
    max_listed: int = 10_000
    archives: ArchiveBounds = field(default_factory=ArchiveBounds)
    watches: watcher.WatchBounds = field(default_factory=watcher.WatchBounds)


class FileObserver(Protocol):
    """Who wants to know of what passes through here. Told when it is done; must not block."""

    def on_write(self, name: str, entry: Entry, checksum: str) -> None:
        """checksum: SHA-256, in hexadecimal digits."""
        ...

    def on_read(self, name: str) -> None: ...
    def on_delete(self, name: str) -> None: ...


class StorageQuota(Protocol):
    """The room that is left for a session's files, for whoever accounts for it."""

    def check(self) -> None:
        """Raises StorageFull or QuotaExceeded where nothing may be added."""
        ...

    def measure(self) -> None:
        """Something was written or deleted."""
        ...

    def open_upload(self) -> Charge:
        """A charge for an archive that lies on the server's disk while it is unpacked."""
        ...


class SessionFiles:
    """spool_dir: a folder of the server for archives on their way in. Every verb raises Conflict when the area is closed."""

    def __init__(
        self,
        area: Area,
        bounds: FileBounds | None = None,
        spool_dir: str | None = None,
        observer: FileObserver | None = None,
        quota: StorageQuota | None = None,
    ) -> None:
        self._area = area
        self._bounds = bounds or FileBounds()
        self._quota = quota
        self._spool_dir = spool_dir
        self._observer = observer

    async def list(
        self,
        folder: str = "",
        *,
        recursive: bool = False,
        limit: int = 1000,
        hidden: bool = True,
        leave_out: Collection[str] = (),
    ) -> Listing:
        """See listing.list_folder. No folder is the workspace."""
        if not 1 <= limit <= self._bounds.max_listed:
            raise InvalidRequest(f"limit must be between 1 and {self._bounds.max_listed}, not {limit}")
        return await self._do(
            lambda area: listing.list_folder(area, folder, recursive=recursive, limit=limit, hidden=hidden, leave_out=leave_out)
        )

    async def stat(self, name: str) -> Entry:
        return await self._do(lambda area: listing.stat_entry(area, name))

    async def read(self, name: str, offset: int = 0, length: int = 4096) -> Slice:
        if length > self._bounds.max_read_bytes:
            raise InvalidRequest(f"at most {self._bounds.max_read_bytes} bytes are read at once: ask for less, or download it")
        found = await self._do(lambda area: file_reader.read(area, name, offset, length))
        if self._observer is not None and offset == 0:
            self._observer.on_read(name)
        return found

    @contextlib.asynccontextmanager
    async def open(self, name: str) -> AsyncIterator[Download]:
        """A file to be sent piece by piece."""
        opened: list[OpenFile] = []
        try:
            # Not its return value: that is lost when this is cancelled meanwhile, and the file would stay open.
            await self._do(lambda area: opened.append(file_reader.open_file(area, name)))
            if self._observer is not None:
                self._observer.on_read(name)
            yield Download(opened[0])
        finally:
            for file in opened:
                file.close()

    async def write(self, name: str, source: AsyncIterable[bytes] | bytes, *, mode: int = 0o644, replace: bool = True) -> Entry:
        """A new file with these bytes, which come as they come; nobody sees it before the last one has."""
        self._check_quota()
        with duplicate_area(self._area) as area:
            upload = Upload(area, name, mode=mode, max_bytes=self._bounds.max_file_bytes, replace=replace)
            digest = hashlib.sha256()
            try:
                await in_thread(upload.open)
                async for chunk in rechunk_async(_to_chunks(source), _CHUNK_BYTES):
                    await _write_chunk(upload, chunk, digest)
                entry = await in_thread(upload.commit)
            finally:
                upload.close()
                self._measure()
        if self._observer is not None:
            self._observer.on_write(name, entry, digest.hexdigest())
        return entry

    async def make_folder(self, name: str) -> bool:
        return await self._do(lambda area: file_ops.make_folder(area, name))

    async def delete(self, name: str, *, recursive: bool = False) -> int:
        count = await self._do(lambda area: file_ops.delete(area, name, recursive=recursive))
        self._measure()
        if self._observer is not None:
            self._observer.on_delete(name)
        return count

    async def move(self, source: str, target: str, *, replace: bool = False) -> None:
        await self._do(lambda area: file_ops.move(area, source, target, replace=replace))
        if self._observer is not None:
            self._observer.on_delete(source)

    async def archive(self, folder: str = "", form: Format = Format.tar_gz) -> AsyncIterator[bytes]:
        """Raises NotFound at the first piece."""
        with duplicate_area(self._area) as area:
            async with contextlib.aclosing(iterate_in_thread(pack(area, folder, form))) as packed:
                async for chunk in packed:
                    yield chunk

    async def unpack(self, source: AsyncIterable[bytes] | bytes, folder: str = "") -> UnpackResult:
        """An archive, tar, tar.gz or zip, into the folder."""
        self._check_quota()
        charge = self._quota.open_upload() if self._quota is not None else contextlib.nullcontext()
        try:
            with charge as held, tempfile.TemporaryFile(dir=self._spool_dir) as spool:
                await self._spool(source, spool, held)
                return await self._do(lambda area: unpack(area, folder, spool, self._bounds.archives))
        finally:
            self._measure()

    async def digest(self, known: Digests) -> str:
        """See digesting.digest_area. known: what the last look found; one look at a time."""
        return await self._do(lambda area: digest_area(area, known))

    async def copy_to(self, target: SessionFiles) -> CopyResult:
        """All of it, into the area of another session in which nothing runs yet."""
        with duplicate_area(self._area) as area, duplicate_area(target._area) as other:
            return await in_thread(lambda: copy_area(area, other))

    def watch(self, folder: str = "", *, recursive: bool = True) -> AbstractAsyncContextManager[watcher.Watch]:
        return watcher.watch_folder(self._area, folder, recursive=recursive, bounds=self._bounds.watches)

    def _check_quota(self) -> None:
        if self._quota is not None:
            self._quota.check()

    def _measure(self) -> None:
        if self._quota is not None:
            self._quota.measure()

    async def _spool(self, source: AsyncIterable[bytes] | bytes, spool: BinaryIO, charge: Charge | None) -> None:
        size = 0
        async for chunk in rechunk_async(_to_chunks(source), _CHUNK_BYTES):
            size += len(chunk)
            if size > self._bounds.max_file_bytes:
                raise InvalidRequest(f"the archive has more than the {self._bounds.max_file_bytes} bytes that may come at once")
            if charge is not None:
                charge.resize(size)
            await _spool_chunk(spool, chunk)

    async def _do(self, work: Callable[[Area], T]) -> T:
        with duplicate_area(self._area) as area:
            return await in_thread(lambda: work(area))


class Download:
    def __init__(self, file: OpenFile) -> None:
        self._file = file
        self.entry = file.entry

    async def chunks(self, offset: int = 0, length: int | None = None) -> AsyncIterator[bytes]:
        """As many bytes as entry.size_bytes says from the offset on. Raises Conflict where the file becomes shorter."""
        async with contextlib.aclosing(iterate_in_thread(self._file.chunks(offset, length))) as found:
            async for chunk in found:
                yield chunk


async def _to_chunks(source: AsyncIterable[bytes] | bytes) -> AsyncIterator[bytes]:
    if isinstance(source, bytes):
        yield source
        return
    async for chunk in source:
        yield chunk


async def _write_chunk(upload: Upload, chunk: bytes, digest: hashlib._Hash) -> None:
    def work() -> None:
        upload.write(chunk)
        digest.update(chunk)

    await in_thread(work)


async def _spool_chunk(spool: BinaryIO, chunk: bytes) -> None:
    await in_thread(lambda: spool.write(chunk))
