"""`sandbox shell`: a terminal in a session.

Three tasks run concurrently: keys of the local terminal are sent to the session, output is printed, size changes are forwarded.
The local terminal is in raw mode, so that Ctrl-C reaches the remote program. A broken connection is resumed; the program in the
session does not notice.
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

from sandbox_runtime.cli.remote import Url, exit_for
from sandbox_runtime.errors import Conflict, TooMany, Unavailable

if TYPE_CHECKING:
    from sandbox_runtime.sdk import ExecutionResult, SandboxClient

Session = Annotated[
    str | None,
    typer.Argument(
        metavar="[SESSION]", help="Id of the session; without one, a new session that ends with the shell.", show_default=False
    ),
]
Command = Annotated[str, typer.Option("--command", "-c", help="Shell command line to run instead of an interactive shell.")]
Timeout = Annotated[float, typer.Option("--timeout", help="Timeout in seconds.")]

_PIECE_BYTES = 4096
_END_OF_INPUT, _BELL = b"\x04", b"\a"
_FIRST_PAUSE_S, _MAX_PAUSE_S = 0.2, 5.0


def register(app: typer.Typer) -> None:
    app.command("shell")(shell)


def shell(session_id: Session = None, command: Command = "", timeout: Timeout = 3600.0, url: Url = "") -> None:
    """Open a shell in a session and exit with its exit code."""
    raise exit_for(asyncio.run(_in_session(session_id, command, timeout, url)))


async def _in_session(session_id: str | None, command: str, timeout_s: float, url: str) -> ExecutionResult:
    from sandbox_runtime.sdk import Sandbox, SandboxClient

    async with SandboxClient(url) as client:
        sandbox = Sandbox(client=client) if session_id is None else Sandbox.attach(session_id, client=client)
        async with sandbox:
            size = _size()
            opened = await client.open_terminal(sandbox.id, command, rows=size.lines, columns=size.columns, timeout=timeout_s)
            return await _TerminalClient(client, opened.id).run()


class _TerminalClient:
    """Connects the local terminal to one in a session."""

    def __init__(self, client: SandboxClient, execution_id: str) -> None:
        self._client = client
        self._id = execution_id
        self._resized = asyncio.Event()

    async def run(self) -> ExecutionResult:
        """Run until the command ends."""
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGWINCH, self._resized.set)
        others = [asyncio.create_task(self._forward_input()), asyncio.create_task(self._resize())]
        try:
            with _raw(sys.stdin.fileno()):
                await self._print_output()
        finally:
            loop.remove_signal_handler(signal.SIGWINCH)
            for task in others:
                task.cancel()
            await asyncio.wait(others)
        return await self._client.get_execution(self._id)

    async def _print_output(self) -> None:
        async with contextlib.aclosing(self._client.follow(self._id)) as outputs:
            async for output in outputs:
                await asyncio.to_thread(_write, output.data)

    async def _forward_input(self) -> None:
        """Send keys. Keys typed while a request is in flight are sent together in the next one."""
        source = sys.stdin.fileno()
        with contextlib.suppress(Conflict):  # the command has ended; its last output is still to come
            while keys := await _read(source):
                await self._send(keys)
            await self._send_end_of_input()

    async def _send_end_of_input(self) -> None:
        """Send it repeatedly: input that arrives while a shell changes its terminal mode is lost."""
        pause_s = _FIRST_PAUSE_S
        while True:
            await self._send(_END_OF_INPUT)
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, _MAX_PAUSE_S)

    async def _send(self, keys: bytes) -> None:
        """Send keys; ring the bell if they did not arrive. The output task detects a lost server."""
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
    """Read as soon as input is available. Uses the event loop because a read in a thread cannot be cancelled; regular files
    cannot be polled and are read directly."""
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
    """Return the terminal's current size, not that of the environment. Terminals without a known size report 0."""
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
    """Set the terminal to raw mode during the block, if stdin is a terminal."""
    if not os.isatty(descriptor):
        yield
        return
    before = termios.tcgetattr(descriptor)
    try:
        tty.setraw(descriptor)
        yield
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
