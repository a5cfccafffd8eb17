"""Pieces of output as messages. Output is bytes; JSON is text. A piece that ends within a character leaves that character to the
next one; what is no UTF-8 at all is told in base64, so that no byte is lost. Pure."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

from sandbox_runtime.sessions import Piece

STREAMS = ("stdout", "stderr")
_LONGEST_CHARACTER = 4


class Spelling:
    """offsets: where each stream goes on after what was told so far."""

    def __init__(self, offsets: dict[str, int]) -> None:
        self.offsets = dict(offsets)
        self._rest = dict.fromkeys(offsets, b"")

    def messages(self, piece: Piece) -> Iterator[dict[str, Any]]:
        data = self._rest[piece.stream] + piece.data
        begun = piece.offset - len(self._rest[piece.stream])
        cut = len(data) - _unfinished(data)
        self._rest[piece.stream] = data[cut:]
        if cut:
            yield self._message(piece.stream, begun, data[:cut])

    def last(self) -> Iterator[dict[str, Any]]:
        """Halves of characters that nothing came after."""
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


def _unfinished(data: bytes) -> int:
    """How many bytes at the end are the beginning of a character."""
    for back in range(1, min(_LONGEST_CHARACTER, len(data) + 1)):
        byte = data[-back]
        if byte >= 0xC0:
            needed = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return back if back < needed else 0
        if byte < 0x80:
            return 0
    return 0


def event_id(offsets: dict[str, int]) -> str:
    return ",".join(f"{name}:{offsets[name]}" for name in sorted(offsets))


def offsets_of_id(text: str) -> dict[str, int]:
    """Raises ValueError for what is no id of ours."""
    found = {}
    for part in text.split(","):
        name, _, number = part.partition(":")
        if name not in STREAMS or not (number.isascii() and number.isdigit() and len(number) < 18):
            raise ValueError(text)
        found[name] = int(number)
    return found
