"""The output of an execution: followed while it runs, taken up again from any byte, read from the store when it is long over.

While an execution lives, and a while longer, all that it printed is at hand: in memory first, in a nameless file when it is much.
Afterwards there is what the store kept: all of it, or its head and its tail.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.model import Execution

STREAMS = ("stdout", "stderr")
PIECE_BYTES = 64 * 1024
_IN_MEMORY_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class OutputPiece:
    """data begins at byte offset of its stream; the next piece of the stream begins at offset + len(data)."""

    stream: str
    offset: int
    data: bytes


class OutputLog:
    """Of one execution. Written by its sink, read by any number of followers, each at its own pace."""

    def __init__(self) -> None:
        # Closed by close(): a tape outlives the call that makes it.
        self._files = {name: tempfile.SpooledTemporaryFile(_IN_MEMORY_BYTES) for name in STREAMS}  # noqa: SIM115
        self._sizes = dict.fromkeys(STREAMS, 0)
        self._grown = asyncio.Event()
        self._followers = 0
        self._closing = False
        self.ended = False

    def write(self, name: str, piece: bytes) -> None:
        file = self._files[name]
        file.seek(self._sizes[name])
        file.write(piece)
        self._sizes[name] += len(piece)
        self._notify()

    def end(self) -> None:
        self.ended = True
        self._notify()

    @property
    def size_bytes(self) -> int:
        return sum(self._sizes.values())

    @property
    def empty(self) -> bool:
        return not any(self._sizes.values())

    def text(self, name: str, max_bytes: int) -> str:
        file = self._files[name]
        file.seek(0)
        return file.read(min(max_bytes, self._sizes[name])).decode(errors="replace")

    def read(self, name: str, offset: int) -> bytes:
        file = self._files[name]
        file.seek(offset)
        return file.read(min(PIECE_BYTES, max(0, self._sizes[name] - offset)))

    async def follow(self, offsets: Mapping[str, int]) -> AsyncIterator[OutputPiece]:
        """Until it has ended and all of it was given."""
        self._followers += 1
        try:
            at = dict(offsets)
            while True:
                grown, ended, begun = self._grown, self.ended, dict(at)
                for piece in self._read_from(at):
                    yield piece
                if ended:
                    return
                if at == begun:
                    await grown.wait()
        finally:
            self._followers -= 1
            if self._closing:
                self.close()

    def _read_from(self, at: dict[str, int]) -> Iterator[OutputPiece]:
        for name in at:
            while data := self.read(name, at[name]):
                piece = OutputPiece(name, at[name], data)
                at[name] += len(data)
                yield piece

    def close(self) -> None:
        """Whoever still follows gets the rest first."""
        self._closing = True
        if not self._followers:
            for file in self._files.values():
                file.close()

    def _notify(self) -> None:
        """Whoever waits has this event; the next to wait gets another."""
        grown, self._grown = self._grown, asyncio.Event()
        grown.set()


def parse_offsets(stream: str, offset: int) -> dict[str, int]:
    if stream not in (*STREAMS, "both"):
        raise InvalidRequest(f"a stream is stdout, stderr or both, not {stream!r}")
    if offset < 0:
        raise InvalidRequest("an offset counts from the beginning: it is not negative")
    return dict.fromkeys(STREAMS if stream == "both" else (stream,), offset)


def stored_pieces(execution: Execution, offsets: Mapping[str, int]) -> list[OutputPiece]:
    """What the store has of it. Where the middle was dropped, a note stands in its place."""
    pieces = []
    for name, offset in offsets.items():
        data = str(getattr(execution, name)).encode()
        pieces += [OutputPiece(name, at, data[at : at + PIECE_BYTES]) for at in range(offset, len(data), PIECE_BYTES)]
    return pieces
