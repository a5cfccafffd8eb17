"""A folder as one stream of bytes, as tar.gz or zip, made while it is sent: no more than a piece of it is in memory.

Plain files, folders and links are packed; links as links. A tar file keeps the holes of sparse files; a zip file cannot, so there
their zeros count, and a folder whose files are larger together than the box's disk is refused. A file that shrinks meanwhile is
filled up with zeros and one that grows is cut, because its size was told in front of it. What cannot be opened any more is left
out.
"""

from __future__ import annotations

import enum
import io
import os
import stat
import tarfile
import time
import zipfile
import zlib
from collections.abc import Generator, Iterator

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.quantities import show_bytes
from sandbox_runtime.workspace.archives.sparse import MAX_EXTENTS, make_sparse
from sandbox_runtime.workspace.area import Area, resolve_folder
from sandbox_runtime.workspace.extents import area_bytes, read_range, sparse_extents, zeros
from sandbox_runtime.workspace.os_errors import translate_os_errors
from sandbox_runtime.workspace.syscalls import open_beneath
from sandbox_runtime.workspace.walk import WalkEntry, read_link, walk

_CHUNK_BYTES = 256 * 1024
# Whoever waits for it waits for the compressor more often than for the line.
_LEVEL = 1
_GZIP = zlib.MAX_WBITS | 16
_OLDEST = (1980, 1, 1, 0, 0, 0)
_NEWEST = (2107, 12, 31, 23, 59, 58)


class Format(enum.StrEnum):
    tar_gz = "tar.gz"
    zip = "zip"

    @property
    def content_type(self) -> str:
        return "application/zip" if self is Format.zip else "application/gzip"


def pack(area: Area, name: str, form: Format, *, max_entries: int = 1_000_000) -> Generator[bytes, None, None]:
    """Names in it are below that folder. Raises NotFound before the first piece, InvalidRequest where there is more than most."""
    with translate_os_errors(name or area.workdir, "packed"):
        folder = resolve_folder(area, name)
        if form is Format.zip:
            _check_size(walk(area.files_fd, folder, max_entries), area_bytes(area))
        entry = walk(area.files_fd, folder, max_entries)
        yield from _zip(entry) if form is Format.zip else _gzip(_tar(entry))


def _check_size(entries: Iterator[WalkEntry], max_bytes: int) -> None:
    total = sum(entry.status.st_size for entry in entries if entry.is_file)
    if total > max_bytes:
        raise InvalidRequest(
            f"the files are {show_bytes(total)} large with their holes, more than the {show_bytes(max_bytes)} disk of the box,"
            " and a zip file keeps no holes: take it as tar.gz"
        )


def _gzip(chunks: Iterator[bytes]) -> Iterator[bytes]:
    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, _GZIP)
    waiting = bytearray()
    for chunk in chunks:
        waiting += packer.compress(chunk)
        if len(waiting) >= _CHUNK_BYTES:
            yield bytes(waiting)
            waiting.clear()
    yield bytes(waiting) + packer.flush()


def _tar(entries: Iterator[WalkEntry]) -> Iterator[bytes]:
    for entry in entries:
        info = _info(entry)
        if entry.is_file:
            descriptor = _open_file(entry)
            if descriptor is not None:
                yield from _tar_file(info, descriptor)
        elif entry.is_folder or (entry.is_link and info.linkname):
            yield info.tobuf(tarfile.PAX_FORMAT, "utf-8", "surrogateescape")
    yield bytes(2 * tarfile.BLOCKSIZE)


def _tar_file(info: tarfile.TarInfo, descriptor: int) -> Iterator[bytes]:
    try:
        size = info.size = os.fstat(descriptor).st_size
        extents = sparse_extents(descriptor, size)
        if extents is None or len(extents) > MAX_EXTENTS:
            head, extents = b"", ((0, size),)
        else:
            head = make_sparse(info, size, extents)
        yield info.tobuf(tarfile.PAX_FORMAT, "utf-8", "surrogateescape") + head
        for offset, length in extents:
            yield from _exactly(descriptor, offset, offset + length)
    finally:
        os.close(descriptor)
    yield bytes(-info.size % tarfile.BLOCKSIZE)


def _info(entry: WalkEntry) -> tarfile.TarInfo:
    info = tarfile.TarInfo(entry.path)
    info.mode = stat.S_IMODE(entry.status.st_mode) & 0o777
    info.mtime = int(entry.status.st_mtime)
    if entry.is_folder:
        info.type = tarfile.DIRTYPE
    elif entry.is_link:
        info.type, info.linkname = tarfile.SYMTYPE, read_link(entry) or ""
    return info


def _open_file(entry: WalkEntry) -> int | None:
    """None when it is gone, or something else by now."""
    try:
        descriptor = open_beneath(entry.folder_fd, entry.name, os.O_RDONLY)
    except OSError:
        return None
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    return None


def _exactly(descriptor: int, start: int, end: int) -> Iterator[bytes]:
    """Yield as many bytes as were announced, however short the file has become."""
    for chunk in read_range(descriptor, start, end):
        start += len(chunk)
        yield chunk
    yield from zeros(end - start)


class _ZipSink(io.RawIOBase):
    """What the zip writer wrote since it was last asked. It cannot seek, so sizes follow the content."""

    def __init__(self) -> None:
        self._chunks: list[bytes] = []
        self.size = 0

    def writable(self) -> bool:
        return True

    def write(self, data: bytes) -> int:  # type: ignore[override]  # the zip writer gives bytes only
        self._chunks.append(bytes(data))
        self.size += len(data)
        return len(data)

    def taken(self) -> bytes:
        chunks, self._chunks, self.size = self._chunks, [], 0
        return b"".join(chunks)


def _zip(entries: Iterator[WalkEntry]) -> Iterator[bytes]:
    sink = _ZipSink()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL) as archive:
        for entry in entries:
            for _ in _add(archive, entry):
                if sink.size >= _CHUNK_BYTES:
                    yield sink.taken()
    yield sink.taken()


def _add(archive: zipfile.ZipFile, entry: WalkEntry) -> Iterator[None]:
    """Comes by after every piece, so that the sink can be emptied."""
    info = _zip_info(entry)
    if entry.is_folder:
        info.compress_type = zipfile.ZIP_STORED
        archive.writestr(info, b"")
    elif entry.is_link and (target := read_link(entry)):
        archive.writestr(info, os.fsencode(target))
    elif entry.is_file and (descriptor := _open_file(entry)) is not None:
        try:
            with archive.open(info, "w", force_zip64=True) as member:
                for chunk in _exactly(descriptor, 0, os.fstat(descriptor).st_size):
                    member.write(chunk)
                    yield
        finally:
            os.close(descriptor)
    yield


def _zip_info(entry: WalkEntry) -> zipfile.ZipInfo:
    """Names in a zip file are text: what is none is shown with replacements."""
    name = entry.path.encode(errors="surrogateescape").decode(errors="replace")
    written = time.localtime(entry.status.st_mtime)[:6]
    info = zipfile.ZipInfo(f"{name}/" if entry.is_folder else name, min(max(written, _OLDEST), _NEWEST))
    info.compress_type = zipfile.ZIP_DEFLATED
    info.create_system = 3
    info.external_attr = (stat.S_IFMT(entry.status.st_mode) | (entry.status.st_mode & 0o777)) << 16
    return info
