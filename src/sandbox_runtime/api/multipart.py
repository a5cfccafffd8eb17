"""Read a file of a form (multipart/form-data) in chunks, without holding it in memory or spooling it to disk."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator

from fastapi import Request
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from sandbox_runtime.api.requests import body_chunks
from sandbox_runtime.errors import InvalidRequest

_MAX_PARTS = 100


class FilePart:
    """A file of the form, positioned at its first byte. `filename` is the name the client gave, without folders."""

    def __init__(self, reader: _Reader) -> None:
        self._reader = reader
        self.filename = reader.filename

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield the file. The rest of the form is read and dropped, so that the connection can be reused."""
        reader = self._reader
        while reader.data or not reader.part_ended:
            while reader.data:
                yield reader.data.popleft()
            if not reader.part_ended and not await reader.feed():
                raise InvalidRequest("the form ends in the middle of the file")
        while await reader.feed():
            reader.data.clear()


async def open_file_part(request: Request, field: str = "file") -> FilePart:
    """Read the form up to the file of this field. Raises InvalidRequest if the body is not a form or has no such field."""
    kind, options = parse_options_header(request.headers.get("content-type", ""))
    boundary = options.get(b"boundary")
    if kind != b"multipart/form-data" or not boundary:
        raise InvalidRequest(f"send the file as multipart/form-data in a field {field!r}")
    reader = _Reader(body_chunks(request), boundary, field.encode())
    while not reader.found:
        if not await reader.feed():
            raise InvalidRequest(f"the form has no field {field!r}")
    return FilePart(reader)


class _Reader:
    """Feeds the parser and keeps the data of one part."""

    def __init__(self, chunks: AsyncIterator[bytes], boundary: bytes, field: bytes) -> None:
        self._chunks = chunks
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
                    "on_part_begin": self._begin_part,
                    "on_header_field": self._add_to_header,
                    "on_header_value": self._add_to_value,
                    "on_header_end": self._end_header,
                    "on_part_data": self._add_data,
                    "on_part_end": self._end_part,
                },
            )
        except FormParserError as error:
            raise InvalidRequest(f"the boundary of the form is invalid: {error}") from error

    async def feed(self) -> bool:
        """Parse the next chunk of the body. Returns False at its end."""
        chunk = await anext(self._chunks, None)
        if chunk is None:
            return False
        try:
            self._parser.write(chunk)
        except FormParserError as error:
            raise InvalidRequest(f"the form is malformed: {error}") from error
        return True

    def _begin_part(self) -> None:
        self._parts += 1
        if self._parts > _MAX_PARTS:
            raise InvalidRequest(f"the form has more than {_MAX_PARTS} parts")

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
            self.filename = _base_name(options.get(b"filename", b"").decode(errors="replace"))

    def _add_data(self, data: bytes, start: int, end: int) -> None:
        if self._inside:
            self.data.append(data[start:end])

    def _end_part(self) -> None:
        if self._inside:
            self._inside, self.part_ended = False, True


def _base_name(name: str) -> str:
    """Drop the folders: old browsers send the whole path."""
    return name.replace("\\", "/").rpartition("/")[2]
