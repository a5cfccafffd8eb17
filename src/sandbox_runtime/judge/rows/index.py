"""Where the rows of one file are: their places in it, in the order of their ids, and the place of each by its names."""

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
    """Which state of a file was read: a file that is replaced or grows is read anew."""

    inode: int
    size_bytes: int
    changed_ns: int


class TableIndex:
    """Of one file, which stays open: a table that is replaced meanwhile is read to its end as it was. Making one blocks."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = _open(path)
        try:
            self._places, self._place_of = self._scanned()
        except BaseException:
            self._file.close()
            raise

    def __len__(self) -> int:
        return len(self._places)

    def close(self) -> None:
        self._file.close()

    def rows(self, offset: int, limit: int) -> list[Row]:
        return [self._at(place) for place in self._places[offset : offset + limit]]

    def find(self, called: RowId) -> Row | None:
        """A number that is asked for as a text, or the other way round, is found as well: databases see no difference."""
        place = self._place_of.get(called)
        if place is None:
            place = self._place_of.get(_other_spelling(called))
        return None if place is None else self._at(place)

    def _scanned(self) -> tuple[array[int], dict[RowId, int]]:
        """Rows without an id stay in the order of the file. A row's id goes before another's further names."""
        places: list[int] = []
        ids: list[RowId] = []
        place_of: dict[RowId, int] = {}
        further: dict[RowId, int] = {}
        for number, place, line in self._lines():
            row = self._parsed(line, f"line {number}")
            names = list(row_names(row))
            places.append(place)
            ids.extend(names[:1] if "id" in row else ())
            for known, called in zip((place_of, *[further] * len(names)), names, strict=False):
                known.setdefault(called, place)
        if len(ids) == len(places):
            ordered = sorted(range(len(ids)), key=lambda number: sort_key(ids[number]))
            places = [places[number] for number in ordered]
        return array("q", places), {**further, **place_of}

    def _lines(self) -> Iterator[tuple[int, int, bytes]]:
        place = number = 0
        self._file.seek(0)
        while line := self._file.readline(MAX_ROW_BYTES + 1):
            number += 1
            if len(line) > MAX_ROW_BYTES:
                raise PlatformFault(f"line {number} of {self._path} is longer than {MAX_ROW_BYTES} bytes")
            if line.strip():
                yield number, place, line
            place += len(line)

    def _at(self, place: int) -> Row:
        line = _line_at(self._file.fileno(), place)
        return self._parsed(line, f"the row at byte {place}")

    def _parsed(self, line: bytes, where: str) -> dict[str, Any]:
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise PlatformFault(f"{where} of {self._path} is not JSON: {error}") from error
        if not isinstance(row, dict):
            raise PlatformFault(f"{where} of {self._path} is no JSON object")
        return row


def file_version(path: Path) -> FileVersion | None:
    """None where there is no such file."""
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return FileVersion(found.st_ino, found.st_size, found.st_mtime_ns)


def _other_spelling(called: RowId) -> RowId:
    if isinstance(called, int):
        return str(called)
    with contextlib.suppress(ValueError):
        return int(called) if len(called) < 20 else called
    return called


def _line_at(descriptor: int, place: int) -> bytes:
    """Without moving the file's own position: several may read at once."""
    parts: list[bytes] = []
    while part := os.pread(descriptor, _CHUNK_BYTES, place):
        end = part.find(b"\n")
        parts.append(part if end < 0 else part[:end])
        if end >= 0:
            break
        place += len(part)
    return b"".join(parts)


def _open(path: Path) -> IO[bytes]:
    try:
        return _decompress(path) if path.suffix == ".gz" else path.open("rb")
    except (OSError, EOFError) as error:
        raise PlatformFault(f"the table {path} cannot be read: {error}") from error


def _decompress(path: Path) -> IO[bytes]:
    """A copy on disk, without a name: places in a packed file cannot be gone to."""
    copy: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - it is closed with the index
    try:
        with gzip.open(path, "rb") as packed:
            while part := packed.read(_CHUNK_BYTES):
                copy.write(part)
                if copy.tell() > MAX_TABLE_BYTES:
                    raise OSError(f"it is larger than {MAX_TABLE_BYTES} bytes unpacked")
        copy.flush()
    except BaseException:
        copy.close()
        raise
    return copy
