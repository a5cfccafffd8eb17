"""The interface of every backend: a Backend opens Boxes, a Box starts commands, a RunningCommand ends in an Outcome."""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from sandbox_runtime.isolation.clock import Clock
from sandbox_runtime.model import Command, LayerReport, Limits, Medium, Outcome, Policy

Sink = Callable[[str, bytes], None]
"""Called with "stdout" or "stderr" and a piece of output while the command runs."""


class RunningCommand(Protocol):
    """A started command. Its output is drained from the start, whether or not anyone waits."""

    control: socket.socket | None
    """The server's end of the command's control socket, non-blocking. The command has the other end as descriptor 3. None if it
    was started without one."""

    async def wait(self) -> Outcome:
        """Return the outcome, once every process of the command is dead."""
        ...

    def send_signal(self, number: int) -> None:
        """Send a signal to the command's first process."""
        ...

    def cancel(self) -> None:
        """Kill the whole command. Its outcome says cancelled."""
        ...

    def feed(self, data: bytes) -> None:
        """Write more standard input. Needs interactive=True."""
        ...

    def end_input(self) -> None: ...

    @property
    def unread_bytes(self) -> int:
        """Bytes that were fed but that the command has not read yet."""
        ...

    on_stdin_drained: Callable[[], None] | None
    """Called whenever no fed input is pending, and when the command will read no more."""

    def pause_output(self, stream: str, paused: bool) -> None:
        """Stop or resume reading "stdout" or "stderr". A program that fills the pipe has to wait."""
        ...

    def limit(self, limits: Limits) -> bool:
        """Change the limits on memory, processes and cores. Returns False if this host cannot, or if the command already uses
        more."""
        ...

    def restart(self, wall_s: float) -> None:
        """Count wall and cpu time from now and allow `wall_s` more. For programs that were started before they had work."""
        ...

    def drain(self) -> None:
        """Read output that has arrived and pass it to the sink, without waiting for the event loop."""
        ...


OnStarted = Callable[[RunningCommand], None]


class Box(Protocol):
    """An isolated environment. Runs one command at a time; files stay until the box is closed."""

    id: str
    backend: str
    files_fd: int
    """Directory descriptor of the writable area. Access paths below it only with openat2 and RESOLVE_BENEATH."""
    writable: Mapping[str, str]
    """Absolute folder as the program sees it → its name below files_fd. Always contains `workdir`."""
    workdir: str
    clock: Clock
    """Clock that wall limits use. Stops while the box is paused."""

    @property
    def outdated(self) -> bool:
        """Whether the guest interpreter was upgraded since the box was opened. Open a new box for further work."""
        ...

    async def start(
        self, command: Command, *, sink: Sink | None = None, interactive: bool = False, control: bool = False
    ) -> RunningCommand:
        """Start a command.

        interactive: keep its standard input open for feed().
        control: give it a control socket.
        """
        ...

    async def run(self, command: Command, *, sink: Sink | None = None, on_started: OnStarted | None = None) -> Outcome:
        """Start a command and wait for it. Cancelling the caller cancels the command.

        on_started: called with the command once it has started; its standard input then stays open for feed().
        """
        ...

    async def close(self) -> None:
        """Close the box. Idempotent.

        Afterwards no process, cgroup or folder of the box is left, and no mount is visible anywhere. The kernel may take
        moments to free the last mounts; their number is bounded.
        """
        ...


class Files(Protocol):
    """A writable area that outlives boxes and that several boxes can use at once. Attributes as in Box."""

    files_fd: int
    writable: Mapping[str, str]
    workdir: str

    no_pause: str
    """Why its boxes cannot be paused; empty if they can."""

    def usage(self) -> tuple[int, int]:
        """Return bytes and files in use."""
        ...

    async def pause(self) -> None:
        """Pause every process in every box that uses the files, now and later, and the clocks of these boxes.

        Commands started meanwhile begin on resume; a kill works at once. Raises Unavailable if this host cannot pause, and
        PlatformFault if it failed; then everything runs on.
        """
        ...

    def resume(self) -> None: ...

    async def close(self) -> None:
        """Close the boxes that use the files and delete the files. Idempotent."""
        ...


class Backend(Protocol):
    """Enter with `async with`; closes all its boxes on exit."""

    name: str

    def medium(self, disk_bytes: int) -> Medium:
        """Whether an area of that size is kept in memory or on disk."""
        ...

    async def open_files(self, disk_bytes: int, disk_files: int) -> Files:
        """Create an empty area. Raises Unavailable if this backend has no shared files."""
        ...

    async def open(self, policy: Policy, files: Files | None = None) -> Box:
        """Open a new box, with its own files unless some are given.

        Raises Unavailable if this host lacks what the policy needs, and PlatformFault if the platform failed.
        """
        ...

    def layers(self) -> Sequence[LayerReport]: ...


BackendContext = AbstractAsyncContextManager[Backend]
