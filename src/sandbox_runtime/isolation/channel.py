"""The server's end of a socket to a spawner or box: messages with descriptors, received with a timeout."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Sequence
from typing import NamedTuple

from sandbox_runtime.errors import PlatformFault
from sandbox_runtime.isolation.inside import wire


class Received(NamedTuple):
    """A received packet. message is None if the other end is closed."""

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
            wire.send(self.socket, wire.encode_for_box(message), descriptors)
        except OSError as error:
            raise PlatformFault(f"cannot send to a box: {error}") from error

    def receive_nowait(self) -> Received | None:
        """Return a packet that has already arrived, or None."""
        try:
            data, descriptors = wire.receive(self.socket)
        except BlockingIOError:
            return None
        except OSError:
            return Received(None, [])
        except wire.Truncated as error:
            _close_all(error.args[0])
            raise PlatformFault("a message from a box exceeds the size limit") from error
        if not data:
            return Received(None, [])
        try:
            return Received(wire.decode_from_box(data), descriptors)
        except ValueError as error:
            _close_all(descriptors)
            raise PlatformFault(f"malformed message from a box: {error}") from error

    async def receive(self, timeout_s: float) -> Received:
        received = self.receive_nowait()
        if received is not None:
            return received
        await wait_readable(self.fileno(), timeout_s)
        return self.receive_nowait() or Received(None, [])

    def close(self) -> None:
        self.socket.close()


async def wait_readable(descriptor: int, timeout_s: float) -> None:
    """Wait until the descriptor is readable. Raises PlatformFault on timeout."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[None] = loop.create_future()
    loop.add_reader(descriptor, _resolve, future)
    timer = loop.call_later(timeout_s, _fail, future, timeout_s)
    try:
        await future
    finally:
        timer.cancel()
        loop.remove_reader(descriptor)


def _resolve(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


def _fail(future: asyncio.Future[None], timeout_s: float) -> None:
    if not future.done():
        future.set_exception(PlatformFault(f"a box did not answer within {timeout_s:g} s"))


def _close_all(descriptors: list[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)
