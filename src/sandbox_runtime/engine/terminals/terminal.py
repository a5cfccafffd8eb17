"""The server's side of a terminal: see the package."""

from __future__ import annotations

import asyncio
import dataclasses
import functools
import socket
import struct
from dataclasses import dataclass
from importlib import resources

from sandbox_runtime.engine.run.command import control_socket, wait_command
from sandbox_runtime.errors import Conflict, InvalidRequest, TooMany
from sandbox_runtime.isolation.port import Box, Sink
from sandbox_runtime.model.command import Command
from sandbox_runtime.model.job import File
from sandbox_runtime.model.outcome import Outcome
from sandbox_runtime.workspace.staging import stage

MAX_KEYS_BYTES = 16 * 1024
"""Limit of one call: fits the length field of a frame."""
_KEYS, _SIZE = 0, 1
_HEAD = struct.Struct(">BH")
_DIMENSIONS = struct.Struct(">HH")
_PROGRAM = "/run/terminal.py"
_TAKEN_WITHIN_S = 10.0
_OPEN_WITHIN_S = 30.0


@dataclass(frozen=True, slots=True)
class Size:
    rows: int = 24
    columns: int = 80

    def __post_init__(self) -> None:
        for what, value in (("rows", self.rows), ("columns", self.columns)):
            if not 1 <= value <= 10_000:
                raise InvalidRequest(f"a terminal has 1 to 10000 {what}, not {value}")


class Terminal:
    """A terminal for one command. `size` is its initial size."""

    def __init__(self, size: Size) -> None:
        self._size = size
        self._connection: socket.socket | None = None
        self._opened = asyncio.Event()
        self._sending = asyncio.Lock()

    async def run(self, box: Box, command: Command, python: str, sink: Sink | None) -> Outcome:
        """Run a command. `python` is an interpreter in the box. Cancelling cancels the command."""
        stage(box, [File(_PROGRAM, _program().encode())])
        argv = (python, _PROGRAM, str(self._size.rows), str(self._size.columns), *command.argv)
        env = {"TERM": "xterm-256color", **command.env}
        running = await box.start(dataclasses.replace(command, argv=argv, env=env), sink=sink, control=True)
        try:
            with control_socket(running) as self._connection:
                self._opened.set()
                return await wait_command(box, running, command.limits.wall_s)
        finally:
            self._connection = None
            self._opened.set()
            running.cancel()

    async def send_keys(self, keys: bytes) -> None:
        """Send keys and return when they are on their way into the box. Raises TooMany if the command does not read."""
        if len(keys) > MAX_KEYS_BYTES:
            raise InvalidRequest(f"at most {MAX_KEYS_BYTES} bytes can be sent at once, not {len(keys)}")
        if keys:
            await self._send(_KEYS, keys)

    async def resize(self, size: Size) -> None:
        self._size = size
        await self._send(_SIZE, _DIMENSIONS.pack(size.rows, size.columns))

    async def _send(self, kind: int, body: bytes) -> None:
        try:
            async with asyncio.timeout(_OPEN_WITHIN_S):
                await self._opened.wait()
            async with asyncio.timeout(_TAKEN_WITHIN_S), self._sending:
                await self._put(_HEAD.pack(kind, len(body)) + body)
        except TimeoutError as error:
            raise TooMany("the command does not read its terminal; try again later", 1.0) from error

    async def _put(self, frame: bytes) -> None:
        """Send a whole frame or nothing: half a frame would garble all later ones."""
        loop = asyncio.get_running_loop()
        while True:
            if self._connection is None:
                raise Conflict("the terminal is closed: its command has ended")
            try:
                sent = self._connection.send(frame)
            except BlockingIOError:
                await _writable(loop, self._connection)
                continue
            except OSError as error:
                raise Conflict("the terminal is closed: its command has ended") from error
            if sent == len(frame):
                return
            await self._rest(loop, self._connection, frame[sent:])
            return

    async def _rest(self, loop: asyncio.AbstractEventLoop, connection: socket.socket, rest: bytes) -> None:
        """Send the rest of a frame. If the caller is cancelled meanwhile, the frame is torn and the connection unusable."""
        try:
            await loop.sock_sendall(connection, rest)
        except BaseException:
            self._connection = None
            raise


async def _writable(loop: asyncio.AbstractEventLoop, connection: socket.socket) -> None:
    ready = asyncio.Event()
    loop.add_writer(connection, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_writer(connection)


@functools.cache
def _program() -> str:
    return resources.files(f"{__package__}.inside").joinpath("pty_host.py").read_text(encoding="utf-8")
