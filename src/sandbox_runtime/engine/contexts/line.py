"""The server's end of a context's line: messages as inside/line.py has them, awaited, bounded and checked."""

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


class Line:
    """most_bytes: of one message from the box; a longer one is the end of the line."""

    def __init__(self, sock: socket.socket, most_bytes: int) -> None:
        self._socket = sock
        self._most_bytes = most_bytes
        self._loop = asyncio.get_running_loop()

    async def send(self, message: dict[str, Any], descriptors: Sequence[int] = ()) -> None:
        text = json.dumps(message).encode()
        data = _LENGTH.pack(len(text)) + text
        try:
            if descriptors:  # the first message bytes fit any buffer, so this does not wait
                data = data[socket.send_fds(self._socket, [data], list(descriptors)) :]
            await self._loop.sock_sendall(self._socket, data)
        except OSError as error:
            raise PlatformFault(f"a context cannot be reached: {error.strerror}") from error

    async def receive(self) -> bytes | None:
        """The text of the next message; None when the other end is gone or says more than it may."""
        head = await self._exactly(_LENGTH.size)
        if head is None:
            return None
        (length,) = _LENGTH.unpack(head)
        return await self._exactly(length) if length <= self._most_bytes else None

    async def _exactly(self, size: int) -> bytes | None:
        pieces = bytearray()
        while len(pieces) < size:
            try:
                piece = await self._loop.sock_recv(self._socket, min(size - len(pieces), _PIECE_BYTES))
            except OSError:
                return None
            if not piece:
                return None
            pieces += piece
        return bytes(pieces)
