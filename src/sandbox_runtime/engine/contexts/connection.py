"""The server's end of a context's control socket: the messages of inside/connection.py, awaited, bounded and checked."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections.abc import Sequence
from typing import Any

from sandbox_runtime.errors import PlatformFault

_LENGTH = struct.Struct(">I")
_PIECE_BYTES = 256 * 1024


class Connection:
    """A connection to a box.

    - max_bytes: longer messages are skipped.
    - end_bytes: a longer message ends the connection.
    """

    def __init__(self, sock: socket.socket, max_bytes: int, end_bytes: int) -> None:
        self._socket = sock
        self._max_bytes = max_bytes
        self._end_bytes = end_bytes
        self.overrun = False
        """Whether the peer announced a message that is longer than it may ever send."""
        self._loop = asyncio.get_running_loop()

    async def send(self, message: dict[str, Any], descriptors: Sequence[int] = ()) -> None:
        text = json.dumps(message).encode()
        data = _LENGTH.pack(len(text)) + text
        try:
            if descriptors:  # the first bytes fit any buffer, so this does not block
                data = data[socket.send_fds(self._socket, [data], list(descriptors)) :]
            await self._loop.sock_sendall(self._socket, data)
        except OSError as error:
            raise PlatformFault(f"the context is unreachable: {error.strerror}") from error

    async def receive(self) -> tuple[int, bytes] | None:
        """Return the size of the next message and its text, which is empty if the message is too long to be kept. Returns None
        if the peer is gone or announces more than a cell may send."""
        head = await self._read_exactly(_LENGTH.size)
        if head is None:
            return None
        (length,) = _LENGTH.unpack(head)
        if length > self._end_bytes:
            self.overrun = True
            return None
        text = await self._read_exactly(length) if length <= self._max_bytes else await self._skip(length)
        return None if text is None else (length, text)

    async def _skip(self, size: int) -> bytes | None:
        while size:
            piece = await self._read_exactly(min(size, _PIECE_BYTES))
            if piece is None:
                return None
            size -= len(piece)
        return b""

    async def _read_exactly(self, size: int) -> bytes | None:
        pieces = bytearray()
        while len(pieces) < size:
            try:
                piece = await self._loop.sock_recv(self._socket, min(size - len(pieces), _PIECE_BYTES))
                await asyncio.sleep(0)  # buffered data is received without waiting: let other tasks run
            except OSError:
                return None
            if not piece:
                return None
            pieces += piece
        return bytes(pieces)
