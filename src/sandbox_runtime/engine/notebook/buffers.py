"""Bounded keeping of what comes out of a box piece by piece."""

from __future__ import annotations

from sandbox_runtime.model import Output


class HeadTailBuffer:
    """Head and tail of a stream, as bytes; the rest is counted."""

    def __init__(self, keep_bytes: int) -> None:
        self._head, self._tail = bytearray(), bytearray()
        self._head_room, self._tail_room = keep_bytes - keep_bytes // 2, keep_bytes // 2
        self._total = 0

    def add(self, piece: bytes) -> None:
        self._total += len(piece)
        missing = self._head_room - len(self._head)
        self._head += piece[:missing]
        self._tail += piece[missing:]
        if len(self._tail) > 2 * self._tail_room:
            del self._tail[: len(self._tail) - self._tail_room]

    @property
    def total_bytes(self) -> int:
        return self._total

    def output(self) -> Output:
        tail = bytes(self._tail[-self._tail_room :]) if self._tail_room else b""
        return Output(bytes(self._head), tail, self._total - len(self._head) - len(tail))


class LineSplitter:
    """Pieces in, whole lines out. A line longer than the bound is left out, whatever it holds."""

    def __init__(self, longest_bytes: int) -> None:
        self._longest = longest_bytes
        self._begun = bytearray()
        self._too_long = False

    def split(self, piece: bytes) -> list[bytes]:
        *ended, rest = piece.split(b"\n")
        found = []
        for part in ended:
            self._take(part)
            if not self._too_long:
                found.append(bytes(self._begun))
            self._begun, self._too_long = bytearray(), False
        self._take(rest)
        return found

    def _take(self, piece: bytes) -> None:
        if self._too_long or len(self._begun) + len(piece) > self._longest:
            self._begun, self._too_long = bytearray(), True
        else:
            self._begun += piece
