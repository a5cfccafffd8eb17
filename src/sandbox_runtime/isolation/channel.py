"""The server's end of a socket to a spawner or a box: messages with descriptors, awaited with a bound."""

from __future__ import annotations

import asyncio
import os
import socket
import struct
from collections.abc import Sequence
from typing import NamedTuple

from sandbox_runtime.errors import PlatformFault
from sandbox_runtime.isolation.inside import wire

_ANCILLARY_BYTES = socket.CMSG_SPACE(wire.MAX_DESCRIPTORS * 4)


class Received(NamedTuple):
    """message None: the other end is closed."""

    message: wire.Message | None
    descriptors: list[int]


class Channel:
    def __init__(self, sock: socket.socket) -> None:
        sock.setblocking(False)
        self.socket = sock

    def fileno(self) -> int:
        return self.socket.fileno()

    def send(self, message: wire.Message, descriptors: Sequence[int] = ()) -> None:
        try:
            wire.send(self.socket, message, descriptors)
        except OSError as error:
            raise PlatformFault(f"a box cannot be reached: {error}") from error

    def take(self) -> Received | None:
        """What has arrived already, or None."""
        try:
            data, ancillary, flags, _ = self.socket.recvmsg(wire.MAX_MESSAGE_BYTES, _ANCILLARY_BYTES, socket.MSG_CMSG_CLOEXEC)
        except BlockingIOError:
            return None
        except OSError:
            return Received(None, [])
        descriptors = _unpack(ancillary)
        try:
            if flags & (socket.MSG_TRUNC | socket.MSG_CTRUNC):
                raise ValueError("a message was cut short")
            return Received(wire.parse(data), descriptors)
        except ValueError as error:
            _close_all(descriptors)
            raise PlatformFault(f"a box sent what it must not: {error}") from error

    async def receive(self, timeout_s: float) -> Received:
        received = self.take()
        if received is not None:
            return received
        await wait_readable(self.fileno(), timeout_s)
        return self.take() or Received(None, [])

    def close(self) -> None:
        self.socket.close()


async def wait_readable(descriptor: int, timeout_s: float) -> None:
    """Raises PlatformFault when nothing comes in time."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[None] = loop.create_future()
    loop.add_reader(descriptor, _settle, future)
    timer = loop.call_later(timeout_s, _fail, future, timeout_s)
    try:
        await future
    finally:
        timer.cancel()
        loop.remove_reader(descriptor)


def _settle(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


def _fail(future: asyncio.Future[None], timeout_s: float) -> None:
    if not future.done():
        future.set_exception(PlatformFault(f"no answer from a box within {timeout_s:g} s"))


def _unpack(ancillary: list[tuple[int, int, bytes]]) -> list[int]:
    descriptors: list[int] = []
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            count = len(data) // 4
            descriptors += struct.unpack(f"{count}i", data[: count * 4])
    return descriptors


def _close_all(descriptors: list[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)
