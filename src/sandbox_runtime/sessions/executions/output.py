"""Output of executions: followed live, resumed from any byte, or read from the store.

While an execution is live, and for a while after, its complete output is available: in memory, or in an anonymous file if it is
large. Later only the stored output is left, which may lack its middle.
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
    """Bytes of one stream, from byte `offset` on."""

    stream: str
    offset: int
    data: bytes


class OutputLog:
    """The output of one execution. Any number of followers read it, each at its own pace."""

    def __init__(self) -> None:
        # Closed by close(): the files outlive this call.
        self._files = {name: tempfile.SpooledTemporaryFile(_IN_MEMORY_BYTES) for name in STREAMS}  # noqa: SIM115
        self._sizes = dict.fromkeys(STREAMS, 0)
        self._grown = asyncio.Event()
        self._followers = 0
        self._closing = False
        self.ended = False

    def write(self, name: str, data: bytes) -> None:
        file = self._files[name]
        file.seek(self._sizes[name])
        file.write(data)
        self._sizes[name] += len(data)
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
        """Yield output from the offsets on, until the execution has ended and everything was yielded."""
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
        """Free the output, after its followers have read the rest."""
        self._closing = True
        if not self._followers:
            for file in self._files.values():
                file.close()

    def _notify(self) -> None:
        """Wake the followers. Each waits on the event that it read before; the next wait uses a new one."""
        grown, self._grown = self._grown, asyncio.Event()
        grown.set()


def parse_offsets(stream: str, offset: int) -> dict[str, int]:
    """Return the offset of each requested stream. Raises InvalidRequest."""
    if stream not in (*STREAMS, "both"):
        raise InvalidRequest(f"stream must be stdout, stderr or both, not {stream!r}")
    if offset < 0:
        raise InvalidRequest("offset must not be negative")
    return dict.fromkeys(STREAMS if stream == "both" else (stream,), offset)


def stored_pieces(execution: Execution, offsets: Mapping[str, int]) -> list[OutputPiece]:
    """Return the stored output. If its middle was dropped, it contains a note there."""
    pieces = []
    for name, offset in offsets.items():
        data = str(getattr(execution, name)).encode()
        pieces += [OutputPiece(name, at, data[at : at + PIECE_BYTES]) for at in range(offset, len(data), PIECE_BYTES)]
    return pieces
