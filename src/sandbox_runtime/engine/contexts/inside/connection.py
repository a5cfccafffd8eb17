"""Messages between a context and the server: length-prefixed JSON, with descriptors attached to the first byte."""

from __future__ import annotations

import array
import json
import signal
import socket
import struct
from typing import Any

MAX_BYTES = 64 * 1024**2
MAX_DESCRIPTORS = 8
_LENGTH = struct.Struct(">I")
_ANCILLARY_BYTES = socket.CMSG_SPACE(MAX_DESCRIPTORS * 4)

Message = dict[str, Any]


class Connection:
    def __init__(self, descriptor: int) -> None:
        self._socket = socket.socket(fileno=descriptor)
        self._socket.setblocking(True)

    def send(self, message: Message, descriptors: tuple[int, ...] = ()) -> None:
        """Send one message. Lone surrogates cannot be encoded, so they travel as JSON escapes.

        Interrupts wait until the message is sent: a partial one would garble all that follow.
        """
        text = json.dumps(message, ensure_ascii=False, separators=(",", ":"), default=repr).encode(errors="backslashreplace")
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self._send(_LENGTH.pack(len(text)) + text, descriptors)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)

    def _send(self, data: bytes, descriptors: tuple[int, ...]) -> None:
        if descriptors:
            sent = socket.send_fds(self._socket, [data], descriptors)
            data = data[sent:]
        self._socket.sendall(data)

    def receive(self) -> tuple[Message, list[int]]:
        """Receive one message with its descriptors. Raises EOFError if the server is gone."""
        first, ancillary, _, _ = self._socket.recvmsg(_LENGTH.size, _ANCILLARY_BYTES, socket.MSG_CMSG_CLOEXEC)
        descriptors = array.array("i")
        for level, kind, passed in ancillary:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                descriptors.frombytes(passed[: len(passed) // 4 * 4])
        (length,) = _LENGTH.unpack(first + self._read_exactly(_LENGTH.size - len(first)))
        return json.loads(self._read_exactly(length)), list(descriptors)

    def _read_exactly(self, size: int) -> bytes:
        pieces = []
        while size:
            piece = self._socket.recv(min(size, 1024**2))
            if not piece:
                raise EOFError
            pieces.append(piece)
            size -= len(piece)
        return b"".join(pieces)
