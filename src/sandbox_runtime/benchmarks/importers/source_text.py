"""From bytes to records. Packed files are unpacked in memory, within a bound."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from sandbox_runtime.errors import InvalidRequest

MAX_BYTES = 4 * 1024 * 1024 * 1024
_GZIP, _ZIP = b"\x1f\x8b", b"PK\x03\x04"
_CHUNK_BYTES = 1024 * 1024

Record = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class PublishedFile:
    """name: the path as it was given; folders may tell which dataset it is."""

    name: str
    records: tuple[Record, ...]

    @property
    def stem(self) -> str:
        """Without folders and endings; where the file is merely called after its split, the folder's name."""
        path = PurePosixPath(self.name)
        stem = path.name.partition(".json")[0].removesuffix(".zip")
        return path.parent.name if stem in ("test", "train", "valid") and path.parent.name else stem


def parse_file(name: str, content: bytes) -> PublishedFile:
    if content.startswith(_ZIP):
        return PublishedFile(name, tuple(_archive_records(name, content)))
    text = _decode(name, _decompress(name, content) if content.startswith(_GZIP) else content)
    records = _parse_records(name, text)
    if not records:
        raise InvalidRequest(f"{name} has no records")
    return PublishedFile(name, tuple(records))


def _decompress(name: str, content: bytes) -> bytes:
    """Member after member, as gzip files may have several."""
    parts: list[bytes] = []
    size = 0
    try:
        while content:
            member = zlib.decompressobj(wbits=31)
            while content and not member.eof:
                parts.append(member.decompress(content, _CHUNK_BYTES))
                content = member.unconsumed_tail
                size += len(parts[-1])
                if size > MAX_BYTES:
                    raise InvalidRequest(f"{name} has more than {MAX_BYTES} bytes unpacked")
            if not member.eof:
                raise InvalidRequest(f"{name} is cut off: its packed content has no end")
            content = member.unused_data.lstrip(b"\0")
    except zlib.error as error:
        raise InvalidRequest(f"{name} cannot be unpacked: {error}") from error
    return b"".join(parts)


def _archive_records(name: str, content: bytes) -> Iterator[Record]:
    """Texts of an archive, each a record with its path."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = [member for member in archive.infolist() if not member.is_dir()]
            if sum(member.file_size for member in members) > MAX_BYTES:
                raise InvalidRequest(f"{name} has more than {MAX_BYTES} bytes unpacked")
            for member in members:
                kind = PurePosixPath(member.filename).suffix.removeprefix(".") or "text"
                yield {"path": member.filename, kind: _decode(member.filename, archive.read(member))}
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise InvalidRequest(f"{name} cannot be unpacked: {error}") from error


def _decode(name: str, content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidRequest(f"{name} is not UTF-8: {error}") from error


def _parse_records(name: str, text: str) -> list[Record]:
    """JSON lines, one JSON list, or one JSON object whose values are the records."""
    try:
        whole = json.loads(text)
    except RecursionError as error:
        raise InvalidRequest(f"{name} is nested too deeply") from error
    except ValueError:
        return [_parse_line(name, number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    if isinstance(whole, dict) and isinstance(whole.get("examples"), list):
        return [{"task": whole, **each} for each in whole["examples"] if isinstance(each, dict)]
    if isinstance(whole, dict) and whole and all(isinstance(each, dict) for each in whole.values()):
        return list(whole.values())
    if isinstance(whole, list) and all(isinstance(each, dict) for each in whole):
        return whole
    if isinstance(whole, dict):
        return [whole]
    raise InvalidRequest(f"{name} must be JSON lines, a JSON list of objects, or an object of objects")


def _parse_line(name: str, number: int, line: str) -> Record:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InvalidRequest(f"line {number} of {name} is not JSON: {error}") from error
    if not isinstance(record, dict):
        raise InvalidRequest(f"line {number} of {name} is no JSON object")
    return record
