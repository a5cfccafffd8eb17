"""The interface of every backend: a Backend opens Boxes, a Box starts commands, a RunningCommand ends in an Outcome."""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from sandbox_runtime.isolation.clock import Clock
from sandbox_runtime.model import Command, LayerReport, Limits, Medium, Outcome, Policy

Sink = Callable[[str, bytes], None]
"""Called with "stdout" or "stderr" and a piece of output, while the command runs."""


class RunningCommand(Protocol):
    """A command that was started. Output is drained from the first moment on, whether or not anyone waits."""

    control: socket.socket | None
    """Our end of the command's own socket, which it finds as descriptor 3, where it was started with one. Not blocking."""

    async def wait(self) -> Outcome:
        """The outcome, once every process of the command is dead."""
        ...

    def send_signal(self, number: int) -> None:
        """To the command's first process."""
        ...

    def cancel(self) -> None:
        """Kill the whole command; its outcome says cancelled."""
        ...

    def feed(self, data: bytes) -> None:
        """More standard input, for a command started with interactive=True."""
        ...

    def end_input(self) -> None: ...

    @property
    def unread_bytes(self) -> int:
        """Of what was fed, how much waits with us because the command has not read that far."""
        ...

    on_stdin_drained: Callable[[], None] | None
    """Called whenever nothing waits any more; also when the command will read nothing again."""

    def hold(self, stream: str, held: bool) -> None:
        """Whether "stdout" or "stderr" is left in its pipe for now: a program that prints more has to wait."""
        ...

    def limit(self, limits: Limits) -> bool:
        """Other bounds on memory, processes and cores from now on. False where this host has no means to change them, or where
        the command uses more already."""
        ...

    def restart(self, wall_s: float) -> None:
        """Count time and cpu from now on, and allow it this long: for a program that was started before it had anything to do."""
        ...

    def drain(self) -> None:
        """Take what has been printed up to now, and hand it to the sink, without waiting for the event loop to come by."""
        ...


OnStarted = Callable[[RunningCommand], None]


class Box(Protocol):
    """An isolated place. Commands run in it one after another; what they leave in its files stays until the box is closed."""

    id: str
    backend: str
    files_fd: int
    """Directory descriptor of the box's writable area. Reach below it only with openat2 and RESOLVE_BENEATH."""
    writable: Mapping[str, str]
    """Absolute folder as the program sees it → its place below files_fd. Always holds `workdir`."""
    workdir: str
    clock: Clock
    """By which wall limits of its commands are counted: it stands still while the box is paused."""

    @property
    def outdated(self) -> bool:
        """Whether the guest's interpreter was upgraded since the box was opened: what is to run next gets a new one."""
        ...

    async def start(
        self, command: Command, *, sink: Sink | None = None, interactive: bool = False, control: bool = False
    ) -> RunningCommand:
        """interactive: its standard input stays open for more. control: it gets a socket to us."""
        ...

    async def run(self, command: Command, *, sink: Sink | None = None, on_started: OnStarted | None = None) -> Outcome:
        """start and wait; a cancelled caller cancels the command. begun: called with the command as soon as it was started; its
        standard input then stays open for more."""
        ...

    async def close(self) -> None:
        """Idempotent. Afterwards no process, cgroup or folder of the box is left, and no mount that anything could see; the
        kernel takes those apart that nobody sees any more, within moments and in bounded number."""
        ...


class Files(Protocol):
    """A writable area that outlives the boxes which see it, several at once if need be. Attributes as those of a Box."""

    files_fd: int
    writable: Mapping[str, str]
    workdir: str

    no_pause: str
    """Why its boxes cannot be paused; empty where they can."""

    def usage(self) -> tuple[int, int]:
        """Bytes and files in use."""
        ...

    async def pause(self) -> None:
        """Every process in every box that sees it stands still from now on, and in those that are opened later; so do their
        clocks. What is started meanwhile begins when they go on; what is killed dies. Raises Unavailable where this host has no
        means to do so, PlatformFault where it failed: then all go on."""
        ...

    def resume(self) -> None: ...

    async def close(self) -> None:
        """Idempotent. Closes the boxes that still see it; afterwards it is gone with all that was in it."""
        ...


class Backend(Protocol):
    """Made ready by `async with`; closes all its boxes on the way out."""

    name: str

    def medium(self, disk_bytes: int) -> Medium:
        """Where an area of that size is kept: in memory, or on the disk."""
        ...

    async def open_files(self, disk_bytes: int, disk_files: int) -> Files:
        """An empty area. Raises Unavailable where this backend has none to share."""
        ...

    async def open(self, policy: Policy, files: Files | None = None) -> Box:
        """A fresh box, with files of its own unless it is given some. Raises Unavailable where the policy needs what this host
        lacks, PlatformFault where we failed."""
        ...

    def layers(self) -> Sequence[LayerReport]: ...


BackendContext = AbstractAsyncContextManager[Backend]
