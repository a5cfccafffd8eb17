"""The bytes of one file: a slice of it, or all of it piece by piece, so that its size does not matter."""

from __future__ import annotations

import codecs
import os
import stat
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import PurePosixPath
from types import TracebackType
from typing import Self

from sandbox_runtime.errors import Conflict, InvalidRequest
from sandbox_runtime.workspace.area import Area, resolve
from sandbox_runtime.workspace.extents import CHUNK_BYTES, read_range
from sandbox_runtime.workspace.listing import Entry, to_entry
from sandbox_runtime.workspace.os_errors import show_name, translate_os_errors
from sandbox_runtime.workspace.syscalls import open_beneath

# What is told as text where a protocol goes by the name; everything else is bytes.
_TEXT_SUFFIXES = (
    "txt md markdown rst log csv tsv json jsonl ndjson ipynb xml html htm css svg yaml yml toml ini cfg conf env properties "
    "diff patch py pyi js mjs cjs ts tsx jsx sh bash zsh c h cc cpp hpp cs java kt go rs rb php pl lua r jl scala swift sql tex "
    "bib proto graphql"
)


@dataclass(frozen=True, slots=True)
class Slice:
    content: bytes
    offset: int
    size_bytes: int
    """Of the whole file."""

    @property
    def next_offset(self) -> int:
        return self.offset + len(self.content)

    @property
    def is_end(self) -> bool:
        return self.next_offset >= self.size_bytes

    def as_text(self) -> tuple[str, Slice]:
        """As UTF-8, and the part of the slice that the text stands for: a character that is cut in two is left to the next one.
        Bytes that are no UTF-8 are replaced."""
        decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        text = decoder.decode(self.content, final=self.is_end)
        rest = len(decoder.getstate()[0])
        if self.content and not text:
            # A slice shorter than one character would never get on.
            return self.content.decode(errors="replace"), self
        return text, Slice(self.content[: len(self.content) - rest], self.offset, self.size_bytes)


class OpenFile:
    """A plain file that is open for reading; to be closed. What it is called may change meanwhile, what it is cannot."""

    def __init__(self, descriptor: int, found: Entry) -> None:
        self._descriptor = descriptor
        self.entry = found

    def read_at(self, offset: int, length: int) -> bytes:
        with translate_os_errors(self.entry.name, "read"):
            return os.pread(self._descriptor, length, offset)

    def chunks(self, offset: int = 0, length: int | None = None) -> Generator[bytes, None, None]:
        """As many bytes as the file had when it was opened, or as were asked for. Raises Conflict where they are gone."""
        end = self.entry.size_bytes if length is None else min(offset + length, self.entry.size_bytes)
        with translate_os_errors(self.entry.name, "read"):
            for chunk in read_range(self._descriptor, offset, end):
                offset += len(chunk)
                yield chunk
        if offset < end:
            raise Conflict(f"{show_name(self.entry.name)} became shorter while it was read")

    def close(self) -> None:
        """Idempotent."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def open_file(area: Area, name: str) -> OpenFile:
    """Raises NotFound, and InvalidRequest for anything but a plain file. Never waits for a FIFO's other end."""
    with translate_os_errors(name, "read"):
        descriptor = open_beneath(area.files_fd, resolve(area, name), os.O_RDONLY)
    try:
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            raise InvalidRequest(f"{show_name(name)} is a folder: list it or take it as an archive")
        if not stat.S_ISREG(status.st_mode):
            raise InvalidRequest(f"{show_name(name)} is no plain file")
    except BaseException:
        os.close(descriptor)
        raise
    return OpenFile(descriptor, to_entry(name, status))


def read(area: Area, name: str, offset: int = 0, length: int = CHUNK_BYTES) -> Slice:
    """Beyond the end there is nothing, which is no error."""
    if offset < 0 or length < 0:
        raise InvalidRequest("offset and length must not be negative")
    with open_file(area, name) as file:
        size = file.entry.size_bytes
        content = b"".join(file.chunks(offset, length)) if offset < size else b""
        return Slice(content, offset, size)


def is_text(name: str) -> bool:
    return PurePosixPath(name).suffix.lower()[1:] in _TEXT_SUFFIXES.split()
