"""Messages between the server and boxes: one per packet, with descriptors attached.

Messages to a box are marshalled, which is cheapest to read in a freshly forked process. Messages from a box are JSON, because
the server must be able to parse hostile input safely.
"""

from __future__ import annotations

import json
import marshal
import os
import socket
import struct
from collections.abc import Sequence
from typing import Any, NamedTuple

MAX_MESSAGE_BYTES = 192 * 1024
MAX_DESCRIPTORS = 10
_MARSHAL_VERSION = 2
_FAMILY, _KIND = int(socket.AF_UNIX), int(socket.SOCK_SEQPACKET)
_RIGHTS = (int(socket.SOL_SOCKET), int(socket.SCM_RIGHTS))
_CLOSE_ON_EXEC = int(socket.MSG_CMSG_CLOEXEC)
_TRUNCATED = int(socket.MSG_TRUNC | socket.MSG_CTRUNC)
_ANCILLARY_BYTES = socket.CMSG_SPACE(MAX_DESCRIPTORS * 4)

Message = dict[str, Any]


class ChannelEnds(NamedTuple):
    """The box's ends of its two channels."""

    orders: socket.socket
    reports: socket.socket

    def close(self) -> None:
        self.orders.close()
        self.reports.close()

    def descriptors(self) -> list[int]:
        return [self.orders.fileno(), self.reports.fileno()]


def pair() -> tuple[socket.socket, socket.socket]:
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def socket_from_fd(descriptor: int) -> socket.SocketType:
    """Return a socket for one end of a pair. Uses the base type: socket.socket would look up enums in every box."""
    return socket.SocketType(_FAMILY, _KIND, 0, descriptor)


def encode_for_box(message: Message) -> bytes:
    return marshal.dumps(message, _MARSHAL_VERSION)


def decode_from_box(data: bytes) -> Message:
    message = json.loads(data)
    if not isinstance(message, dict):
        raise ValueError("a message must be a JSON object")
    return message


def encode_for_server(message: Message) -> bytes:
    return json.dumps(message).encode()


def decode_from_server(data: bytes) -> Message:
    message: Message = marshal.loads(data)
    return message


NETWORK_NEEDED = encode_for_server({"network": True})


def end_report(status: int, user_s: float, system_s: float, memory_peak_bytes: int, *, lost: bool = False) -> bytes:
    """Encode the report that a command has ended, from its wait status.

    Formatted by hand, because it delays every answer and a JSON encoder would touch more memory.

    lost: the box died first and took the command with it.
    """
    code, number = ("null", os.WTERMSIG(status)) if os.WIFSIGNALED(status) else (os.WEXITSTATUS(status), "null")
    return (
        f'{{"ended":true,"exit_code":{code},"signal":{number},"user_s":{user_s:.6f},"system_s":{system_s:.6f},'
        f'"memory_peak_bytes":{memory_peak_bytes},"lost":{"true" if lost else "false"}}}'
    ).encode()


def send(sock: socket.SocketType, data: bytes, descriptors: Sequence[int] = ()) -> None:
    if descriptors:
        sock.sendmsg([data], [(*_RIGHTS, struct.pack(f"{len(descriptors)}i", *descriptors))])
    else:
        sock.send(data)


def receive(sock: socket.SocketType) -> tuple[bytes, list[int]]:
    """Return the next packet and its descriptors (close-on-exec); empty if the other end is closed."""
    data, ancillary, flags, _ = sock.recvmsg(MAX_MESSAGE_BYTES, _ANCILLARY_BYTES, _CLOSE_ON_EXEC)
    descriptors: list[int] = []
    for level, kind, passed in ancillary:
        if (level, kind) == _RIGHTS:
            descriptors += struct.unpack(f"{len(passed) // 4}i", passed[: len(passed) // 4 * 4])
    if flags & _TRUNCATED:
        raise Truncated(descriptors)
    return data, descriptors


class Truncated(Exception):
    """A packet was truncated. The first argument holds its descriptors."""
