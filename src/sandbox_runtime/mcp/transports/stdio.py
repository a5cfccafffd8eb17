"""Standard input and output: one JSON message a line. While it serves, nothing else can write to the real standard output."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import Iterator

from sandbox_runtime.mcp.server import Door
from sandbox_runtime.mcp.transports.channel import MOST_MESSAGE_BYTES, Gone, TooLong, serve_channel


async def serve_stdio(door: Door) -> None:
    """Until standard input ends."""
    with _taken_over() as (read_fd, write_fd):
        await serve_channel(door, await _Lines.on(read_fd, write_fd))


@contextlib.contextmanager
def _taken_over() -> Iterator[tuple[int, int]]:
    """Descriptors 0 and 1 become nothing and stderr, so that no stray print breaks the protocol."""
    sys.stdout.flush()
    read_fd, write_fd = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    try:
        os.dup2(nothing, 0)
        os.dup2(2, 1)
        yield read_fd, write_fd
    finally:
        os.dup2(read_fd, 0)
        os.dup2(write_fd, 1)
        for descriptor in (nothing, read_fd, write_fd):
            with contextlib.suppress(OSError):
                os.close(descriptor)


class _Lines:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def on(cls, read_fd: int, write_fd: int) -> _Lines:
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(limit=MOST_MESSAGE_BYTES)
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(os.dup(read_fd), "rb", buffering=0))
        transport, protocol = await loop.connect_write_pipe(
            lambda: asyncio.streams.FlowControlMixin(loop=loop), os.fdopen(os.dup(write_fd), "wb", buffering=0)
        )
        return cls(reader, asyncio.StreamWriter(transport, protocol, None, loop))

    async def receive(self) -> bytes | None:
        try:
            line = await self._reader.readuntil(b"\n")
        except asyncio.IncompleteReadError as error:
            return error.partial or None
        except asyncio.LimitOverrunError as error:
            await self._skip_line(error.consumed)
            raise TooLong from error
        return line

    async def send(self, text: str) -> None:
        try:
            self._writer.write(text.encode(errors="backslashreplace") + b"\n")
            await self._writer.drain()
        except (ConnectionError, OSError) as error:
            raise Gone from error

    async def _skip_line(self, seen: int) -> None:
        """To the end of a line that is too long, without keeping it."""
        while True:
            await self._reader.readexactly(seen)
            try:
                await self._reader.readuntil(b"\n")
                return
            except asyncio.LimitOverrunError as error:
                seen = error.consumed
            except asyncio.IncompleteReadError:
                return
