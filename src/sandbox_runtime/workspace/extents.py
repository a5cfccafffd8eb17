"""Sparse files: which ranges of a file hold data, and how a copy of it keeps its holes.

A hole takes no room in the box, so it must take none outside it either. What can describe holes (snapshots, copies, tar files)
stores data alone; what cannot (zip files, plain downloads) is given zeros that were never read from, or written to, a disk.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Generator, Iterator, Sequence

from sandbox_runtime.workspace.area import Area

Extent = tuple[int, int]
"""Offset and length of a range that holds data."""
CHUNK_BYTES = 256 * 1024
_ZEROS = bytes(CHUNK_BYTES)


def data_extents(descriptor: int, start: int, end: int) -> Iterator[Extent]:
    """Yield the ranges between start and end that hold data, in order."""
    while start < end:
        try:
            data = os.lseek(descriptor, start, os.SEEK_DATA)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            return
        if data >= end:
            return
        start = min(os.lseek(descriptor, data, os.SEEK_HOLE), end)
        yield data, start - data


def sparse_extents(descriptor: int, size: int) -> tuple[Extent, ...] | None:
    """Return the data ranges of a file of that size, or None if it has no holes."""
    found = tuple(data_extents(descriptor, 0, size))
    return None if found == ((0, size),) or not size else found


def read_range(descriptor: int, start: int, end: int) -> Generator[bytes, None, None]:
    """Yield the bytes of the range; holes as zeros that are not read. Ends early where the file has become shorter."""
    at = start
    for offset, length in data_extents(descriptor, start, end):
        yield from zeros(offset - at)
        at = offset
        while at < offset + length:
            chunk = os.pread(descriptor, min(CHUNK_BYTES, offset + length - at), at)
            if not chunk:
                return
            at += len(chunk)
            yield chunk
    yield from zeros(min(end, os.fstat(descriptor).st_size) - at)


def zeros(count: int) -> Generator[bytes, None, None]:
    while count > 0:
        yield _ZEROS[: min(count, CHUNK_BYTES)]
        count -= CHUNK_BYTES


def area_bytes(area: Area) -> int:
    """Return the size of the file system that the area is on: the disk limit of its box."""
    status = os.fstatvfs(area.files_fd)
    return status.f_blocks * status.f_frsize


class SparseWriter:
    """Writes a stream of data bytes to where the extents say, and leaves holes between them."""

    def __init__(self, descriptor: int, size: int, extents: Sequence[Extent] | None) -> None:
        self._descriptor = descriptor
        self._size = size
        self._extents = iter(((0, size),) if extents is None else extents)
        self._at = self._left = 0

    def write(self, content: bytes | memoryview) -> None:
        view = memoryview(content)
        while view:
            if not self._left:
                self._at, self._left = next(self._extents)
            written = os.pwrite(self._descriptor, view[: self._left], self._at)
            self._at, self._left, view = self._at + written, self._left - written, view[written:]

    def finish(self) -> None:
        os.ftruncate(self._descriptor, self._size)
