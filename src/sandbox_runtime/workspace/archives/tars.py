"""Members of a tar file, plain or gzipped.

Headers are parsed one block at a time by the standard library; what stands around them is read here, because the library keeps
extended headers of any size in memory and seeks where a header tells it to. Nothing here reads backwards, and no read is
larger than what is asked for.
"""

from __future__ import annotations

import tarfile
import zlib
from collections.abc import Iterator, Mapping
from typing import BinaryIO

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.workspace.archives.members import ArchiveBounds, Member, MemberKind
from sandbox_runtime.workspace.archives.sparse import is_sparse, read_sparse
from sandbox_runtime.workspace.os_errors import show_name

_BLOCK = tarfile.BLOCKSIZE
_CHUNK_BYTES = 256 * 1024
_HEADER_BYTES = 64 * 1024
_GZIP = zlib.MAX_WBITS | 16
_KINDS = {
    tarfile.REGTYPE: MemberKind.file,
    tarfile.AREGTYPE: MemberKind.file,
    tarfile.CONTTYPE: MemberKind.file,
    tarfile.DIRTYPE: MemberKind.folder,
    tarfile.SYMTYPE: MemberKind.link,
    tarfile.LNKTYPE: MemberKind.hard_link,
}
_LONG_NAME, _LONG_LINK = tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK
_EXTENDED, _GLOBAL = tarfile.XHDTYPE, tarfile.XGLTYPE
_EXTENSIONS = (_LONG_NAME, _LONG_LINK, _EXTENDED, _GLOBAL)
# In front of one member; no program writes more than three.
_MAX_EXTENSIONS = 8


def members(file: BinaryIO, archive_bytes: int, bounds: ArchiveBounds) -> Iterator[Member]:
    """From the beginning of the file."""
    file.seek(0)
    stream = _GzipStream(file, archive_bytes, bounds) if file.read(2) == b"\x1f\x8b" else _PlainStream(file)
    file.seek(0)
    return _TarReader(stream).members()


class _PlainStream:
    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def read(self, size: int) -> bytes:
        return self._file.read(size)


class _GzipStream:
    """What comes out is counted: a gzip member of nothing but headers would otherwise never meet a bound."""

    def __init__(self, file: BinaryIO, archive_bytes: int, bounds: ArchiveBounds) -> None:
        self._file = file
        self._archive_bytes = archive_bytes
        self._bounds = bounds
        self._inflate = zlib.decompressobj(_GZIP)
        self._total = 0

    def read(self, size: int) -> bytes:
        while True:
            packed = self._inflate.unconsumed_tail or self._next()
            if not packed:
                return b""
            chunk = self._inflated(packed, size)
            if chunk:
                self._total += len(chunk)
                # Headers come on top of what the members hold: at most as much again.
                self._bounds.check(self._total // 2, self._archive_bytes)
                return chunk

    def _next(self) -> bytes:
        if not self._inflate.eof:
            return self._file.read(_CHUNK_BYTES)
        rest = self._inflate.unused_data or self._file.read(_CHUNK_BYTES)
        self._inflate = zlib.decompressobj(_GZIP)
        # Some writers fill up with zeros after the last gzip member.
        return rest if rest.strip(b"\0") else b""

    def _inflated(self, packed: bytes, size: int) -> bytes:
        try:
            return self._inflate.decompress(packed, size)
        except zlib.error as error:
            raise InvalidRequest(f"the archive is no gzip file, or a damaged one: {error}") from error


class _TarReader:
    def __init__(self, stream: _PlainStream | _GzipStream) -> None:
        self._stream = stream
        self._unread = 0
        """Of the present member's content, and what fills up its last block."""

    def members(self) -> Iterator[Member]:
        first = True
        while info := self._header(first):
            first = False
            told: dict[str, str] = {}
            for _ in range(_MAX_EXTENSIONS):
                if info.type not in _EXTENSIONS:
                    break
                told.update(self._extension(info))
                info = self._following()
            yield self._member(info, told)
            self._skip()

    def _following(self) -> tarfile.TarInfo:
        info = self._header(False)
        if info is None:
            raise InvalidRequest("the archive ends after an extended header")
        return info

    def _header(self, first: bool) -> tarfile.TarInfo | None:
        """None at the end, which is a block of zeros, or nothing."""
        block = self._exactly(_BLOCK, may_end=not first)
        if block is None or not block.strip(b"\0"):
            return None
        try:
            info = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
        except (tarfile.HeaderError, ValueError) as error:
            raise InvalidRequest(f"the archive is no tar file, or a damaged one: {error}") from error
        if info.size < 0:
            raise InvalidRequest("the archive is damaged: a member has a negative size")
        return info

    def _extension(self, info: tarfile.TarInfo) -> Mapping[str, str]:
        if info.size > _HEADER_BYTES:
            raise InvalidRequest(f"the archive has an extended header of more than {_HEADER_BYTES} bytes")
        body = self._exactly(_filled(info.size)) or b""
        text = body[: info.size]
        if info.type == _GLOBAL:
            return {}
        if info.type == _EXTENDED:
            return _records(text)
        return {"path" if info.type == _LONG_NAME else "linkpath": text.rstrip(b"\0").decode(errors="surrogateescape")}

    def _member(self, info: tarfile.TarInfo, told: Mapping[str, str]) -> Member:
        name = told.get("path", info.name)
        kind = _KINDS.get(info.type)
        if kind is None or (is_sparse(told) and kind is not MemberKind.file):
            raise InvalidRequest(
                f"the archive's {show_name(name)} is a device, a FIFO or a sparse file of an old form, or has too many headers"
            )
        size = _size(told, info) if kind is MemberKind.file else 0
        self._unread = _filled(size)
        modified_s = max(0.0, min(float(info.mtime), 2.0**33))
        if is_sparse(told):
            return self._sparse(told, size, info.mode & 0o777, modified_s)
        target = told.get("linkpath", info.linkname)
        return Member(name, kind, size, info.mode & 0o777, modified_s, target, lambda: self._content(size))

    def _sparse(self, told: Mapping[str, str], stored: int, mode: int, modified_s: float) -> Member:
        found = read_sparse(told, stored, lambda: self._exactly(_BLOCK) or b"")
        self._unread -= found.map_bytes
        data = stored - found.map_bytes
        return Member(
            found.name, MemberKind.file, found.size_bytes, mode, modified_s, "", lambda: self._content(data), found.extents
        )

    def _content(self, size: int) -> Iterator[bytes]:
        while size:
            chunk = self._exactly(min(size, _CHUNK_BYTES)) or b""
            self._unread -= len(chunk)
            size -= len(chunk)
            yield chunk

    def _skip(self) -> None:
        while self._unread:
            self._unread -= len(self._exactly(min(self._unread, _CHUNK_BYTES)) or b"")

    def _exactly(self, size: int, *, may_end: bool = False) -> bytes | None:
        chunks = []
        left = size
        while left and (chunk := self._stream.read(left)):
            chunks.append(chunk)
            left -= len(chunk)
        if left:
            if may_end and left == size:
                return None
            raise InvalidRequest("the archive is no tar file, or ends in the middle of one")
        return b"".join(chunks)


def _filled(size: int) -> int:
    return -(-size // _BLOCK) * _BLOCK


def _size(told: Mapping[str, str], info: tarfile.TarInfo) -> int:
    text = told.get("size", str(info.size))
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        raise InvalidRequest("the archive is damaged: a member's size is no number")
    return int(text)


def _records(text: bytes) -> Mapping[str, str]:
    """Lines of `length key=value`, each length counting itself."""
    found: dict[str, str] = {}
    while text.strip(b"\0"):
        number, space, _ = text.partition(b" ")
        length = int(number) if number.isdigit() and len(number) < 8 else 0
        record = text[len(number) + 1 : length - 1]
        key, equals, value = record.partition(b"=")
        if not (space and equals and len(number) + 1 < length <= len(text)):
            raise InvalidRequest("the archive is damaged: an extended header makes no sense")
        found[key.decode(errors="surrogateescape")] = value.decode(errors="surrogateescape")
        text = text[length:]
    return found
