"""Draining one output stream of a command while it runs: head and tail are kept, the rest is counted."""

from __future__ import annotations

import os
from collections import deque

from sandbox_runtime.model import Output

READ_BYTES = 128 * 1024


class Capture:
    """Reads the pipe it is given until its end; owns it."""

    def __init__(self, descriptor: int, keep_bytes: int) -> None:
        self.descriptor = descriptor
        self.total_bytes = 0
        self._head: list[bytes] = []
        self._head_room = keep_bytes - keep_bytes // 2
        self._tail: deque[bytes] = deque()
        self._tail_bytes = 0
        self._tail_room = keep_bytes // 2

    def read(self) -> bytes | None:
        """The next piece; empty at the end of the stream, None where nothing has arrived."""
        try:
            piece = os.read(self.descriptor, READ_BYTES)
        except BlockingIOError:
            return None
        self._keep(piece)
        return piece

    def _keep(self, piece: bytes) -> None:
        self.total_bytes += len(piece)
        if self._head_room:
            taken = piece[: self._head_room]
            self._head.append(taken)
            self._head_room -= len(taken)
            piece = piece[len(taken) :]
        if piece:
            self._tail.append(piece)
            self._tail_bytes += len(piece)
            while self._tail and self._tail_bytes - len(self._tail[0]) >= self._tail_room:
                self._tail_bytes -= len(self._tail.popleft())

    def output(self) -> Output:
        head, tail = b"".join(self._head), b"".join(self._tail)[-self._tail_room :] if self._tail_room else b""
        return Output(head, tail, self.total_bytes - len(head) - len(tail))

    def close(self) -> None:
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1
