"""`sandbox shell`: a terminal in a session.

Three things at once: keys from our terminal go to the one in the session, what appears there comes back, and a new size of ours
becomes its size. Ours is raw meanwhile, so that Ctrl-C and the like reach the program in there. A connection that breaks is taken
up again where it was; what runs in the session does not notice.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import termios
import tty
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from sandbox_runtime.cli.remote import Url, conclude
from sandbox_runtime.errors import Conflict, TooMany, Unavailable

if TYPE_CHECKING:
    from sandbox_runtime.sdk import ExecutionResult, SandboxClient

Session = Annotated[
    str | None,
    typer.Argument(
        metavar="[SESSION]", help="Its id; without one there is a new session, which ends with the shell.", show_default=False
    ),
]
Command = Annotated[str, typer.Option("--command", "-c", help="A line for the shell instead of a shell to sit in front of.")]
Timeout = Annotated[float, typer.Option("--timeout", help="Seconds after which it ends.")]

_PIECE_BYTES = 4096
_END_OF_INPUT, _BELL = b"\x04", b"\a"
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.2, 5.0


def register(app: typer.Typer) -> None:
    app.command("shell")(shell)


def shell(session_id: Session = None, command: Command = "", timeout: Timeout = 3600.0, url: Url = "") -> None:
    """Sit in front of a shell in a session; our exit code is its own."""
    raise conclude(asyncio.run(_in_session(session_id, command, timeout, url)))


async def _in_session(session_id: str | None, command: str, timeout_s: float, url: str) -> ExecutionResult:
    from sandbox_runtime.sdk import Sandbox, SandboxClient

    async with SandboxClient(url) as client:
        sandbox = Sandbox(client=client) if session_id is None else Sandbox.attach(session_id, client=client)
        async with sandbox:
            size = _size()
            opened = await client.open_terminal(sandbox.id, command, rows=size.lines, columns=size.columns, timeout=timeout_s)
            return await _Seat(client, opened.id).sit()


class _Seat:
    """In front of one terminal."""

    def __init__(self, client: SandboxClient, execution_id: str) -> None:
        self._client = client
        self._id = execution_id
        self._resized = asyncio.Event()

    async def sit(self) -> ExecutionResult:
        """Until its command ends."""
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGWINCH, self._resized.set)
        others = [asyncio.create_task(self._type()), asyncio.create_task(self._resize())]
        try:
            with _raw(sys.stdin.fileno()):
                await self._watch()
        finally:
            loop.remove_signal_handler(signal.SIGWINCH)
            for task in others:
                task.cancel()
            await asyncio.wait(others)
        return await self._client.get_execution(self._id)

    async def _watch(self) -> None:
        async with contextlib.aclosing(self._client.follow(self._id)) as outputs:
            async for output in outputs:
                await asyncio.to_thread(_write, output.data)

    async def _type(self) -> None:
        """What is typed together is sent together: while one request is under way, the next keys gather."""
        source = sys.stdin.fileno()
        with contextlib.suppress(Conflict):  # the command has ended; what it printed last is on its way
            while keys := await _read(source):
                await self._send(keys)
            await self._tell_end()

    async def _tell_end(self) -> None:
        """More than once: what comes while a shell changes the mode of its terminal is lost on it."""
        pause_s = _FIRST_PAUSE_S
        while True:
            await self._send(_END_OF_INPUT)
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)

    async def _send(self, keys: bytes) -> None:
        """Keys that did not arrive are heard; whether there still is a server is for the one who watches to find out."""
        try:
            await self._client.type_in(self._id, keys)
        except (TooMany, Unavailable):
            await asyncio.to_thread(_write, _BELL)

    async def _resize(self) -> None:
        while True:
            await self._resized.wait()
            self._resized.clear()
            size = _size()
            with contextlib.suppress(Conflict, TooMany, Unavailable):
                await self._client.resize_terminal(self._id, size.lines, size.columns)


async def _read(descriptor: int) -> bytes:
    """As soon as there is something. A thread could not be called back from its read, and a file cannot be watched at all."""
    loop, ready = asyncio.get_running_loop(), asyncio.Event()
    try:
        loop.add_reader(descriptor, ready.set)
    except PermissionError:
        return os.read(descriptor, _PIECE_BYTES)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(descriptor)
    return os.read(descriptor, _PIECE_BYTES)


def _size() -> os.terminal_size:
    """Of the terminal itself: what the environment says of it was true once. One that does not know tells 0."""
    with contextlib.suppress(OSError):
        size = os.get_terminal_size(sys.stdin.fileno())
        if size.lines and size.columns:
            return size
    return os.terminal_size((80, 24))


def _write(data: bytes) -> None:
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


@contextlib.contextmanager
def _raw(descriptor: int) -> Iterator[None]:
    """Where our input is no terminal there is nothing to change."""
    if not os.isatty(descriptor):
        yield
        return
    before = termios.tcgetattr(descriptor)
    try:
        tty.setraw(descriptor)
        yield
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
