"""Bounded buffers for output that arrives in pieces."""

from __future__ import annotations

from sandbox_runtime.model.outcome import Output


class HeadTailBuffer:
    """Keeps head and tail of a stream; the rest is counted."""

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
    """Splits pieces into lines. Lines longer than the bound are dropped."""

    def __init__(self, max_line_bytes: int) -> None:
        self._max_line_bytes = max_line_bytes
        self._line = bytearray()
        self._too_long = False

    def split(self, piece: bytes) -> list[bytes]:
        *ended, rest = piece.split(b"\n")
        lines = []
        for part in ended:
            self._take(part)
            if not self._too_long:
                lines.append(bytes(self._line))
            self._line, self._too_long = bytearray(), False
        self._take(rest)
        return lines

    def _take(self, piece: bytes) -> None:
        if self._too_long or len(self._line) + len(piece) > self._max_line_bytes:
            self._line, self._too_long = bytearray(), True
        else:
            self._line += piece
