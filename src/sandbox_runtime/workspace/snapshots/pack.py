"""Files gathered into objects: many small ones in one, a large one alone. Where each lies is noted while its bytes stream."""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import hashlib
import os
import stat
from collections.abc import Generator, Iterable, Iterator, Sequence

from sandbox_runtime.errors import Conflict, PlatformFault
from sandbox_runtime.model.limits import MIB
from sandbox_runtime.workspace.area import Area
from sandbox_runtime.workspace.extents import read_range, sparse_extents, zeros
from sandbox_runtime.workspace.folders import open_descriptor
from sandbox_runtime.workspace.os_errors import show_name
from sandbox_runtime.workspace.snapshots.manifest import SnapshotEntry
from sandbox_runtime.workspace.snapshots.scan import ScannedEntry, Stamp, stamp_of
from sandbox_runtime.workspace.threads import rechunk

ALONE_BYTES = 4 * MIB
_TOGETHER_BYTES = 16 * MIB
_CHUNK_BYTES = 256 * 1024
_GONE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENXIO, errno.EXDEV)


def groups(files: Sequence[ScannedEntry]) -> Iterator[list[ScannedEntry]]:
    """Each of them becomes an object."""
    gathered: list[ScannedEntry] = []
    size = 0
    for seen in files:
        if seen.real_bytes >= ALONE_BYTES:
            yield [seen]
            continue
        if size + seen.real_bytes > _TOGETHER_BYTES:
            yield gathered
            gathered, size = [], 0
        gathered.append(seen)
        size += seen.real_bytes
    if gathered:
        yield gathered


class ObjectPacker:
    """One object on its way into the storage. Afterwards, placed tells what lies where. max_bytes: raise Conflict beyond it, as
    a program could otherwise move its data from file to file in front of the reader."""

    def __init__(self, area: Area, name: str, files: Sequence[ScannedEntry], max_bytes: int) -> None:
        self._area = area
        self._name = name
        self._files = files
        self._max_bytes = max_bytes
        self.packed: list[tuple[SnapshotEntry, Stamp | None]] = []
        self.size_bytes = 0

    def chunks(self) -> Generator[bytes, None, None]:
        yield from rechunk((chunk for seen in self._files for chunk in self._file(seen)), _CHUNK_BYTES)

    def _file(self, seen: ScannedEntry) -> Generator[bytes, None, None]:
        """What is gone, or no plain file any more, is left out; of one that grows, the bytes it had."""
        try:
            with open_descriptor(self._area.files_fd, resolve_scanned(self._area, seen.entry.path), os.O_RDONLY) as descriptor:
                if stat.S_ISREG(os.fstat(descriptor).st_mode):
                    yield from self._content(seen, descriptor)
        except OSError as error:
            if error.errno not in _GONE:
                raise

    def _content(self, seen: ScannedEntry, descriptor: int) -> Generator[bytes, None, None]:
        digest, start = hashlib.sha256(), self.size_bytes
        size = min(seen.entry.size_bytes, os.fstat(descriptor).st_size)
        extents = sparse_extents(descriptor, size)
        for offset, length in ((0, size),) if extents is None else extents:
            for chunk in _filled(descriptor, offset, length):
                digest.update(chunk)
                self._count(len(chunk))
                yield chunk
        same = seen.stamp if stamp_of(os.fstat(descriptor)) == seen.stamp else None
        told = {"size_bytes": size, "sha256": digest.hexdigest(), "object": self._name, "offset": start, "extents": extents}
        self.packed.append((dataclasses.replace(seen.entry, **told), same))  # type: ignore[arg-type]

    def _count(self, size: int) -> None:
        self.size_bytes += size
        if self.size_bytes > self._max_bytes:
            raise Conflict("the files of the session hold more than its disk limit while they are saved: stop its programs first")


def _filled(descriptor: int, offset: int, length: int) -> Generator[bytes, None, None]:
    """Yield exactly that many bytes: what a program cut off meanwhile is zeros."""
    end = offset + length
    while offset < end:
        chunk = os.pread(descriptor, min(_CHUNK_BYTES, end - offset), offset)
        if not chunk:
            yield from zeros(end - offset)
            return
        offset += len(chunk)
        yield chunk


def digest_of(area: Area, entry: SnapshotEntry) -> str:
    """Return the digest of what a file holds now; empty if it is missing or has another size."""
    try:
        with _open_unchanged(area, entry) as descriptor:
            return _digest(read_range(descriptor, 0, entry.size_bytes))
    except OSError:
        return ""


def is_stored(area: Area, entry: SnapshotEntry) -> bool:
    """Return whether a file is what the snapshot holds of it: the same data between the same holes."""
    try:
        with _open_unchanged(area, entry) as descriptor:
            extents = sparse_extents(descriptor, entry.size_bytes)
            if extents != entry.extents:
                return False
            data = ((0, entry.size_bytes),) if extents is None else extents
            return _digest(chunk for extent in data for chunk in _filled(descriptor, *extent)) == entry.sha256
    except OSError:
        return False


@contextlib.contextmanager
def _open_unchanged(area: Area, entry: SnapshotEntry) -> Iterator[int]:
    with open_descriptor(area.files_fd, resolve_scanned(area, entry.path), os.O_RDONLY) as descriptor:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size != entry.size_bytes:
            raise OSError(errno.ESTALE, "another file by now")
        yield descriptor


def _digest(chunks: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for chunk in chunks:
        digest.update(chunk)
    return digest.hexdigest()


def resolve_scanned(area: Area, path: str) -> str:
    """As area.place, for names that a walk has found: they may be no text."""
    folders = [folder for folder in area.writable if path.startswith(f"{folder}/")]
    if not folders:
        raise PlatformFault(f"the snapshot holds {show_name(path)}, which lies in no folder that this box has")
    folder = max(folders, key=len)
    return f"{area.writable[folder]}{path[len(folder) :]}"
