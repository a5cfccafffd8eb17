"""Drain one output stream of a command while it runs. Keeps head and tail and counts the rest."""

from __future__ import annotations

import os

from sandbox_runtime.model import Output

READ_BYTES = 128 * 1024


class Capture:
    """Reads a pipe to its end and owns it. Memory is bounded by keep_bytes, however small the pieces arrive."""

    def __init__(self, descriptor: int, keep_bytes: int) -> None:
        self.descriptor = descriptor
        self.total_bytes = 0
        self._head = bytearray()
        self._head_room = keep_bytes - keep_bytes // 2
        self._tail = bytearray()
        self._tail_room = keep_bytes // 2

    def read(self) -> bytes | None:
        """Return the next piece: empty at end of stream, None if nothing has arrived."""
        try:
            piece = os.read(self.descriptor, READ_BYTES)
        except BlockingIOError:
            return None
        self._keep(piece)
        return piece

    def _keep(self, piece: bytes) -> None:
        self.total_bytes += len(piece)
        missing = self._head_room - len(self._head)
        if missing:
            self._head += piece[:missing]
            piece = piece[missing:]
        if piece:
            self._tail += piece
            if len(self._tail) > 2 * self._tail_room:
                del self._tail[: len(self._tail) - self._tail_room]

    def output(self) -> Output:
        tail = bytes(self._tail[-self._tail_room :]) if self._tail_room else b""
        return Output(bytes(self._head), tail, self.total_bytes - len(self._head) - len(tail))

    def close(self) -> None:
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1
