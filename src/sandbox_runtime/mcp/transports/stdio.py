"""Standard input and output: one JSON message per line. While serving, nothing else can write to the real standard output.

The event loop reads and writes pipes, sockets and terminals. Files and devices such as /dev/null cannot be polled, so a thread
reads and writes them. Messages of a file are answered one after another, and the server stops at its end.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import stat
import sys
from collections.abc import Iterator
from typing import Protocol

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.mcp.server import McpServer
from sandbox_runtime.mcp.transports.message_channel import MAX_MESSAGE_BYTES, Disconnected, MessageTooLong, serve_channel


def check_streams() -> None:
    """Raise InvalidRequest if a standard stream is closed. Call this before opening anything: a file would reuse its number."""
    for number, name in ((0, "standard input"), (1, "standard output")):
        try:
            os.fstat(number)
        except OSError as error:
            message = f"{name} is closed; connect it to a pipe or a file, or serve over HTTP with --http"
            raise InvalidRequest(message) from error


async def serve_stdio(server: McpServer) -> None:
    """Serve until standard input ends."""
    with _claim_streams() as (read_fd, write_fd):
        await serve_channel(
            server, _LineChannel(await _open_reader(read_fd), await _open_writer(write_fd), sequential=not _is_pollable(read_fd))
        )


@contextlib.contextmanager
def _claim_streams() -> Iterator[tuple[int, int]]:
    """Yield copies of descriptors 0 and 1, and point 0 at /dev/null and 1 at stderr, so that a stray print cannot break the
    protocol."""
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


def _is_pollable(descriptor: int) -> bool:
    """Whether the event loop can wait for the descriptor."""
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(descriptor)


class _Reader(Protocol):
    async def readline(self) -> bytes:
        """Return a line with its newline, or b"" at the end. Raises MessageTooLong after skipping the rest of the line."""
        ...


class _Writer(Protocol):
    async def write(self, line: bytes) -> None:
        """Raises OSError."""
        ...


class _LineChannel:
    """`sequential`: each request waits for the response to the previous one."""

    def __init__(self, reader: _Reader, writer: _Writer, *, sequential: bool) -> None:
        self._reader = reader
        self._writer = writer
        self.sequential = sequential

    async def receive(self) -> bytes | None:
        return await self._reader.readline() or None

    async def send(self, text: str) -> None:
        try:
            await self._writer.write(text.encode(errors="backslashreplace") + b"\n")
        except OSError as error:
            raise Disconnected from error


async def _open_reader(descriptor: int) -> _Reader:
    if not _is_pollable(descriptor):
        return _FileReader(descriptor)
    reader = asyncio.StreamReader(limit=MAX_MESSAGE_BYTES)
    file = os.fdopen(os.dup(descriptor), "rb", buffering=0)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), file)
    return _PipeReader(reader)


async def _open_writer(descriptor: int) -> _Writer:
    if not _is_pollable(descriptor):
        return _FileWriter(descriptor)
    loop, file = asyncio.get_running_loop(), os.fdopen(os.dup(descriptor), "wb", buffering=0)
    transport, protocol = await loop.connect_write_pipe(lambda: asyncio.streams.FlowControlMixin(loop=loop), file)
    return _PipeWriter(asyncio.StreamWriter(transport, protocol, None, loop))


class _PipeReader:
    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader

    async def readline(self) -> bytes:
        try:
            return await self._reader.readuntil(b"\n")
        except asyncio.IncompleteReadError as error:
            return error.partial
        except asyncio.LimitOverrunError as error:
            await self._skip_line(error.consumed)
            raise MessageTooLong from error

    async def _skip_line(self, seen: int) -> None:
        """Skip to the end of a line that is too long."""
        while True:
            await self._reader.readexactly(seen)
            try:
                await self._reader.readuntil(b"\n")
                return
            except asyncio.LimitOverrunError as error:
                seen = error.consumed
            except asyncio.IncompleteReadError:
                return


class _PipeWriter:
    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer

    async def write(self, line: bytes) -> None:
        self._writer.write(line)
        await self._writer.drain()


class _FileReader:
    def __init__(self, descriptor: int) -> None:
        self._file = os.fdopen(os.dup(descriptor), "rb")

    async def readline(self) -> bytes:
        line = await self._piece()
        if len(line) <= MAX_MESSAGE_BYTES or line.endswith(b"\n"):
            return line
        while line and not line.endswith(b"\n"):
            line = await self._piece()
        raise MessageTooLong

    async def _piece(self) -> bytes:
        return await asyncio.to_thread(self._file.readline, MAX_MESSAGE_BYTES + 1)


class _FileWriter:
    def __init__(self, descriptor: int) -> None:
        self._file = os.fdopen(os.dup(descriptor), "wb", buffering=0)

    async def write(self, line: bytes) -> None:
        await asyncio.to_thread(self._write, line)

    def _write(self, line: bytes) -> None:
        while line:
            line = line[self._file.write(line) :]
