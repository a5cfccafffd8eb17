"""An index of one table file: the byte offsets of its rows in id order, and the offset of each row by its names."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import tempfile
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from sandbox_runtime.errors import PlatformFault
from sandbox_runtime.judge.rows.port import RowId, row_names, sort_key
from sandbox_runtime.model.judge import Row

MAX_ROW_BYTES = 256 * 1024 * 1024
MAX_TABLE_BYTES = 64 * 1024 * 1024 * 1024
_CHUNK_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class FileVersion:
    """Identifies the content of a file: a file that is replaced or grows is read again."""

    inode: int
    size_bytes: int
    changed_ns: int


class TableIndex:
    """Keeps its file open, so that a table that is replaced can be read to its end as it was. The constructor blocks."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = _open(path)
        try:
            self._offsets, self._offset_of = self._scan()
        except BaseException:
            self._file.close()
            raise

    def __len__(self) -> int:
        return len(self._offsets)

    def close(self) -> None:
        self._file.close()

    def rows(self, offset: int, limit: int) -> list[Row]:
        return [self._row_at(position) for position in self._offsets[offset : offset + limit]]

    def find(self, row_id: RowId) -> Row | None:
        """Return the row, or None. The numeric and the text form of an id are equivalent, as in databases."""
        offset = self._offset_of.get(row_id)
        if offset is None:
            offset = self._offset_of.get(_other_spelling(row_id))
        return None if offset is None else self._row_at(offset)

    def _scan(self) -> tuple[array[int], dict[RowId, int]]:
        """Rows without an id keep the order of the file. An id takes precedence over the other names of another row."""
        offsets: list[int] = []
        ids: list[RowId] = []
        by_id: dict[RowId, int] = {}
        by_name: dict[RowId, int] = {}
        for number, offset, line in self._lines():
            row = self._parse(line, f"line {number}")
            names = list(row_names(row))
            offsets.append(offset)
            ids.extend(names[:1] if "id" in row else ())
            for offset_of, name in zip((by_id, *[by_name] * len(names)), names, strict=False):
                offset_of.setdefault(name, offset)
        if len(ids) == len(offsets):
            ordered = sorted(range(len(ids)), key=lambda number: sort_key(ids[number]))
            offsets = [offsets[number] for number in ordered]
        return array("q", offsets), {**by_name, **by_id}

    def _lines(self) -> Iterator[tuple[int, int, bytes]]:
        offset = number = 0
        self._file.seek(0)
        while line := self._file.readline(MAX_ROW_BYTES + 1):
            number += 1
            if len(line) > MAX_ROW_BYTES:
                raise PlatformFault(f"line {number} of {self._path} is longer than {MAX_ROW_BYTES} bytes")
            if line.strip():
                yield number, offset, line
            offset += len(line)

    def _row_at(self, offset: int) -> Row:
        line = _line_at(self._file.fileno(), offset)
        return self._parse(line, f"the row at byte {offset}")

    def _parse(self, line: bytes, where: str) -> dict[str, Any]:
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise PlatformFault(f"{where} of {self._path} is not JSON: {error}") from error
        if not isinstance(row, dict):
            raise PlatformFault(f"{where} of {self._path} is not a JSON object")
        return row


def file_version(path: Path) -> FileVersion | None:
    """Return None if the file does not exist."""
    try:
        stat = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return FileVersion(stat.st_ino, stat.st_size, stat.st_mtime_ns)


def _other_spelling(row_id: RowId) -> RowId:
    if isinstance(row_id, int):
        return str(row_id)
    with contextlib.suppress(ValueError):
        return int(row_id) if len(row_id) < 20 else row_id
    return row_id


def _line_at(descriptor: int, offset: int) -> bytes:
    """Read a line without moving the file's position, because reads may be concurrent."""
    parts: list[bytes] = []
    while part := os.pread(descriptor, _CHUNK_BYTES, offset):
        end = part.find(b"\n")
        parts.append(part if end < 0 else part[:end])
        if end >= 0:
            break
        offset += len(part)
    return b"".join(parts)


def _open(path: Path) -> IO[bytes]:
    try:
        return _decompress(path) if path.suffix == ".gz" else path.open("rb")
    except (OSError, EOFError) as error:
        raise PlatformFault(f"the table {path} cannot be read: {error}") from error


def _decompress(path: Path) -> IO[bytes]:
    """Decompress to an unnamed file on disk, because gzip files cannot be read at an offset."""
    copy: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the index
    try:
        with gzip.open(path, "rb") as packed:
            while part := packed.read(_CHUNK_BYTES):
                copy.write(part)
                if copy.tell() > MAX_TABLE_BYTES:
                    raise OSError(f"it is larger than {MAX_TABLE_BYTES} bytes when decompressed")
        copy.flush()
    except BaseException:
        copy.close()
        raise
    return copy
