"""Output of executions as JSON messages.

Output is bytes and JSON is text. A piece that ends within a character leaves that character to the next message. Bytes that are
not UTF-8 are sent in base64 as well, so that no byte is lost.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

from sandbox_runtime.api.utf8 import split_incomplete
from sandbox_runtime.sessions import OutputPiece

STREAMS = ("stdout", "stderr")


class Utf8EventEncoder:
    """`offsets`: for each stream, the offset of the next byte to send."""

    def __init__(self, offsets: dict[str, int]) -> None:
        self.offsets = dict(offsets)
        self._rest = dict.fromkeys(offsets, b"")

    def messages(self, piece: OutputPiece) -> Iterator[dict[str, Any]]:
        rest = self._rest[piece.stream]
        data, self._rest[piece.stream] = split_incomplete(rest + piece.data)
        if data:
            yield self._message(piece.stream, piece.offset - len(rest), data)

    def last(self) -> Iterator[dict[str, Any]]:
        """Return the messages for incomplete characters at the end of the streams."""
        for stream, rest in self._rest.items():
            if rest:
                yield self._message(stream, self.offsets[stream], rest)

    def _message(self, stream: str, offset: int, data: bytes) -> dict[str, Any]:
        self.offsets[stream] = offset + len(data)
        message = {"stream": stream, "offset": offset, "next_offset": offset + len(data)}
        try:
            return {**message, "data": data.decode()}
        except UnicodeDecodeError:
            return {**message, "data": data.decode(errors="replace"), "data_base64": base64.b64encode(data).decode()}


def event_id(offsets: dict[str, int]) -> str:
    return ",".join(f"{name}:{offsets[name]}" for name in sorted(offsets))


def parse_event_id(text: str) -> dict[str, int]:
    """Parse an id of event_id. Raises ValueError for any other text."""
    offsets = {}
    for part in text.split(","):
        name, _, number = part.partition(":")
        if name not in STREAMS or not (number.isascii() and number.isdigit() and len(number) < 18):
            raise ValueError(text)
        offsets[name] = int(number)
    return offsets
