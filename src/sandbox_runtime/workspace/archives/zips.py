"""Members of a zip file."""

from __future__ import annotations

import io
import stat
import time
import zipfile
import zlib
from collections.abc import Iterator
from typing import BinaryIO

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.workspace.archives.members import Member, MemberKind
from sandbox_runtime.workspace.os_errors import show_name

_CHUNK_BYTES = 256 * 1024
# The directory of a zip file is read in one go and each of its entries, of 46 bytes or more, becomes an object.
_MAX_READ_BYTES = 4 * 1024 * 1024
_LINK_BYTES = 4096
_ENCRYPTED = 0x1
# The other methods inflate without a bound on what comes out.
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_DAMAGED = (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, ValueError, OverflowError, UnicodeError)


def members(file: BinaryIO) -> Iterator[Member]:
    try:
        archive = zipfile.ZipFile(_BoundedFile(file))
    except _DAMAGED as error:
        raise _damaged(error) from error
    with archive:
        for info in archive.infolist():
            yield _member(archive, info)


class _BoundedFile(io.RawIOBase):
    """The file, refusing to give more at once than a directory within bounds would need."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def read(self, size: int = -1) -> bytes:
        chunk = self._file.read(_MAX_READ_BYTES + 1 if size < 0 else min(size, _MAX_READ_BYTES + 1))
        if len(chunk) > _MAX_READ_BYTES:
            raise InvalidRequest("the archive has more members than may be unpacked: make several of it")
        return chunk


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Member:
    mode = info.external_attr >> 16
    if info.flag_bits & _ENCRYPTED:
        raise InvalidRequest(f"the archive's {show_name(info.filename)} is encrypted: make it without a password")
    if info.compress_type not in _METHODS:
        raise InvalidRequest(
            f"the archive's {show_name(info.filename)} is compressed in a way other than deflate: make it with that"
        )
    modified_s = _time_of(info)
    if info.is_dir():
        return Member(info.filename, MemberKind.folder, 0, stat.S_IMODE(mode) or 0o755, modified_s)
    if stat.S_ISLNK(mode):
        return Member(info.filename, MemberKind.link, 0, 0o777, modified_s, _target(archive, info))
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        raise InvalidRequest(f"the archive's {show_name(info.filename)} is a device, a FIFO or a socket: leave it out")
    rights = stat.S_IMODE(mode) or 0o644
    return Member(info.filename, MemberKind.file, info.file_size, rights, modified_s, "", lambda: _content(archive, info))


def _target(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> str:
    if info.file_size > _LINK_BYTES:
        raise InvalidRequest(f"the archive's link {show_name(info.filename)} leads out of the folder")
    return b"".join(_content(archive, info)).decode(errors="surrogateescape")


def _content(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Iterator[bytes]:
    """As many bytes as the directory told, and no more: it is what the bounds were held against."""
    left = info.file_size
    try:
        with archive.open(info) as opened:
            while left and (chunk := opened.read(min(left, _CHUNK_BYTES))):
                left -= len(chunk)
                yield chunk
    except _DAMAGED as error:
        raise _damaged(error) from error
    if left:
        raise InvalidRequest(f"the archive is damaged: {show_name(info.filename)} is shorter than it says")


def _time_of(info: zipfile.ZipInfo) -> float:
    try:
        return max(0.0, time.mktime((*info.date_time, 0, 0, -1)))
    except (OverflowError, ValueError):
        return 0.0


def _damaged(error: Exception) -> InvalidRequest:
    return InvalidRequest(f"the archive is no zip file, or a damaged one: {error}")
