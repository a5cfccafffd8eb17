"""Messages between the server and a box: one JSON object a packet, descriptors beside it."""

from __future__ import annotations

import json
import socket
from collections.abc import Sequence
from typing import Any, NamedTuple

MAX_MESSAGE_BYTES = 192 * 1024
MAX_DESCRIPTORS = 10

Message = dict[str, Any]


class Ends(NamedTuple):
    """The far ends of a box's two channels."""

    orders: socket.socket
    reports: socket.socket

    def close(self) -> None:
        self.orders.close()
        self.reports.close()

    def descriptors(self) -> list[int]:
        return [self.orders.fileno(), self.reports.fileno()]


def pair() -> tuple[socket.socket, socket.socket]:
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def send(sock: socket.socket, message: Message, descriptors: Sequence[int] = ()) -> None:
    data = json.dumps(message, separators=(",", ":")).encode()
    if descriptors:
        socket.send_fds(sock, [data], descriptors)
    else:
        sock.send(data)


def receive(sock: socket.socket) -> tuple[Message | None, list[int]]:
    """The next message and its descriptors, or None when the other end is closed."""
    data, descriptors, flags, _ = socket.recv_fds(sock, MAX_MESSAGE_BYTES, MAX_DESCRIPTORS, socket.MSG_CMSG_CLOEXEC)
    if flags & (socket.MSG_TRUNC | socket.MSG_CTRUNC):
        raise ValueError("a message was cut short")
    return parse(data), list(descriptors)


def parse(data: bytes) -> Message | None:
    if not data:
        return None
    message = json.loads(data)
    if not isinstance(message, dict):
        raise ValueError("a message must be an object")
    return message
