"""One command in one box: the grace beyond its wall limit, its control socket, and the rule for boxes dead on arrival."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Iterator

from sandbox_runtime.errors import PlatformFault
from sandbox_runtime.isolation.port import Box, OnStarted, RunningCommand, Sink
from sandbox_runtime.model.command import Command
from sandbox_runtime.model.outcome import Blame, Outcome

GRACE_S = 30.0
"""Extra time beyond the wall limit before a box that does not answer counts as a platform fault."""
DEAD_ON_ARRIVAL_S = 0.1


async def run_command(box: Box, command: Command, sink: Sink | None = None, on_started: OnStarted | None = None) -> Outcome:
    """Run a command. Raises PlatformFault if the box does not answer in time."""
    try:
        async with box.clock.timeout(command.limits.wall_s + GRACE_S):
            return await box.run(command, sink=sink, on_started=on_started)
    except TimeoutError as error:
        raise PlatformFault("the box did not answer in time") from error


async def wait_command(box: Box, running: RunningCommand, wall_s: float) -> Outcome:
    """Wait for a running command. Raises PlatformFault if the box does not answer in time."""
    try:
        async with box.clock.timeout(wall_s + GRACE_S):
            return await running.wait()
    except TimeoutError as error:
        raise PlatformFault("the box did not answer in time") from error


def is_dead_on_arrival(outcome: Outcome) -> bool:
    """Whether the box was probably dead before it got its command, as prepared boxes are after their spawner dies: this shows at
    once. The command may be run again if nothing of it can have been seen: no output, or no network to reach anything."""
    return outcome.blame is Blame.platform and outcome.usage.wall_s < DEAD_ON_ARRIVAL_S


@contextlib.contextmanager
def control_socket(running: RunningCommand) -> Iterator[socket.socket]:
    """Duplicate the control socket: the command closes its own when it ends, maybe while we still use it."""
    assert running.control is not None
    with socket.socket(fileno=os.dup(running.control.fileno())) as own:
        own.setblocking(False)
        yield own
