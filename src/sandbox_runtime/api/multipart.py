"""A file that comes in a form (multipart/form-data), piece by piece: it is never in memory as a whole, nor spooled to a disk."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator

from fastapi import HTTPException, Request
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from sandbox_runtime.errors import InvalidRequest

PIECE_WITHIN_S = 60.0
_MOST_PARTS = 100


class FilePart:
    """The part of that name, open at its first byte. filename: as the client calls it, without folders."""

    def __init__(self, reader: _Reader) -> None:
        self._reader = reader
        self.filename = reader.filename

    async def pieces(self) -> AsyncIterator[bytes]:
        """To the end of the part; what comes after it is read and dropped, so that the connection can be used again."""
        reader = self._reader
        while reader.data or not reader.part_ended:
            while reader.data:
                yield reader.data.popleft()
            if not reader.part_ended and not await reader.more():
                raise InvalidRequest("the form ends in the middle of its file")
        while await reader.more():
            reader.data.clear()


async def file_part(request: Request, field: str = "file") -> FilePart:
    """Raises InvalidRequest where the body is no form, or has no such file."""
    kind, options = parse_options_header(request.headers.get("content-type", ""))
    boundary = options.get(b"boundary")
    if kind != b"multipart/form-data" or not boundary:
        raise InvalidRequest(f"send the file as a form: multipart/form-data with a field {field!r}")
    reader = _Reader(request.stream(), boundary, field.encode())
    while not reader.found:
        if not await reader.more():
            raise InvalidRequest(f"the form has no field {field!r}")
    return FilePart(reader)


class _Reader:
    """Feeds the parser with what comes and keeps what it says of the one part that is wanted."""

    def __init__(self, stream: AsyncIterator[bytes], boundary: bytes, field: bytes) -> None:
        self._stream = stream
        self._field = field
        self._parts = 0
        self._header, self._value = b"", b""
        self._inside = False
        self.data: deque[bytes] = deque()
        self.found = self.part_ended = False
        self.filename = ""
        try:
            self._parser = MultipartParser(
                boundary,
                {
                    "on_part_begin": self._begin,
                    "on_header_field": self._add_to_header,
                    "on_header_value": self._add_to_value,
                    "on_header_end": self._end_header,
                    "on_part_data": self._take,
                    "on_part_end": self._end,
                },
            )
        except FormParserError as error:
            raise InvalidRequest(f"the form has no good boundary: {error}") from error

    async def more(self) -> bool:
        """False at the end of the body."""
        try:
            async with asyncio.timeout(PIECE_WITHIN_S):
                piece = await anext(self._stream, None)
        except TimeoutError as error:
            raise HTTPException(408, f"nothing more of the request body came within {PIECE_WITHIN_S:g} s") from error
        if piece is None:
            return False
        try:
            self._parser.write(piece)
        except FormParserError as error:
            raise InvalidRequest(f"the form is malformed: {error}") from error
        return True

    def _begin(self) -> None:
        self._parts += 1
        if self._parts > _MOST_PARTS:
            raise InvalidRequest(f"the form has more than {_MOST_PARTS} parts")

    def _add_to_header(self, data: bytes, start: int, end: int) -> None:
        self._header += data[start:end]

    def _add_to_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _end_header(self) -> None:
        header, value = self._header.lower(), self._value
        self._header = self._value = b""
        if header != b"content-disposition" or self.found:
            return
        options = parse_options_header(value)[1]
        if options.get(b"name") == self._field:
            self.found = self._inside = True
            self.filename = _plain(options.get(b"filename", b"").decode(errors="replace"))

    def _take(self, data: bytes, start: int, end: int) -> None:
        if self._inside:
            self.data.append(data[start:end])

    def _end(self) -> None:
        if self._inside:
            self._inside, self.part_ended = False, True


def _plain(name: str) -> str:
    """Browsers of old send the whole path."""
    return name.replace("\\", "/").rpartition("/")[2]
