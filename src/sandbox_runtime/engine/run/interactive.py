"""Two programs in two boxes, what either prints being what the other reads.

Theory of operation. Both are started with their standard inputs open; a listener on each one's output feeds the other. When the
reader falls behind, what is written is left in its pipe until he has caught up, so that a program that prints without end waits
as it would at a pipe of the kernel, and nobody here holds more than a pipe's worth for it. When one ends, the other reads the end
of its input; when it failed, all is said, and the other is stopped. Each has its own limits, the wall limit among them: two that
wait for each other are ended by it.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from sandbox_runtime.engine.run.box_run import GRACE_S, BoxRun, Task
from sandbox_runtime.engine.run.task_runner import TaskRunner
from sandbox_runtime.errors import InvalidRequest, PlatformFault
from sandbox_runtime.isolation.port import Running
from sandbox_runtime.model import Blame, Outcome

HELD_BYTES = 64 * 1024
"""As much as a pipe of the kernel holds."""


@dataclass(frozen=True, slots=True)
class InteractiveResult:
    first: Outcome
    second: Outcome
    first_ended_first: bool


async def run_interactive(runner: TaskRunner, first: Task, second: Task) -> InteractiveResult:
    """Both can be run. Raises PlatformFault where a box does not answer in time; a cancelled caller cancels both."""
    async with AsyncExitStack() as stack:
        boxes = [await stack.enter_async_context(runner.opened(task)) for task in (first, second)]
        for boxed in boxes:
            await _prepare(boxed)
        async with _started(boxes) as (one, other):
            joined = await _both(one, other, max(boxed.command().limits.wall_s for boxed in boxes))
    for boxed, outcome in zip(boxes, (joined.first, joined.second), strict=True):
        boxed.told(outcome)
        if outcome.blame is Blame.platform:
            runner.distrust(boxed.task, outcome)
    return joined


async def _prepare(boxed: BoxRun) -> None:
    """What could not be carried over from where it was built is built again."""
    compiled = await boxed.prepare()
    if compiled is not None and not compiled.ok:
        raise PlatformFault(f"what compiled before did not compile again: {compiled.message or compiled.ending}")


@asynccontextmanager
async def _started(boxes: list[BoxRun]) -> AsyncIterator[tuple[Running, Running]]:
    relays = (_Relay(), _Relay())
    running: list[Running] = []
    try:
        for boxed, relay in zip(boxes, relays, strict=True):
            running.append(await boxed.box.start(boxed.command(), sink=relay.hear, interactive=True))
        one, other = running
        relays[0].connect(one, other)
        relays[1].connect(other, one)
        yield one, other
    finally:
        for command in running:
            command.cancel()


async def _both(one: Running, other: Running, wall_s: float) -> InteractiveResult:
    first, second = asyncio.ensure_future(_ended(one, other)), asyncio.ensure_future(_ended(other, one))
    try:
        done, _ = await asyncio.wait((first, second), timeout=wall_s + GRACE_S, return_when=asyncio.FIRST_COMPLETED)
        _, left = await asyncio.wait((first, second), timeout=wall_s + GRACE_S)
        if left:
            raise PlatformFault("a box did not answer in time")
        return InteractiveResult(first.result(), second.result(), first in done)
    finally:
        first.cancel()
        second.cancel()


async def _ended(command: Running, partner: Running) -> Outcome:
    outcome = await command.wait()
    partner.end_input()
    if not outcome.ok:
        partner.cancel()
    return outcome


class _Relay:
    """From one's output to the other's input. What comes before it is connected is kept until then."""

    def __init__(self) -> None:
        self._early: list[bytes] = []
        self._writer: Running | None = None
        self._reader: Running | None = None
        self._held = False

    def hear(self, stream: str, piece: bytes) -> None:
        if stream != "stdout":
            return
        if self._reader is None:
            self._early.append(piece)
        else:
            self._pass(self._reader, piece)

    def connect(self, writer: Running, reader: Running) -> None:
        self._writer, self._reader = writer, reader
        reader.when_read = self._go_on
        for piece in self._early:
            self._pass(reader, piece)
        self._early.clear()

    def _pass(self, reader: Running, piece: bytes) -> None:
        with contextlib.suppress(InvalidRequest):  # the reader has closed its input: what is printed goes nowhere
            reader.feed(piece)
        if self._writer is not None and reader.unread_bytes > HELD_BYTES:
            self._held = True
            self._writer.hold("stdout", True)

    def _go_on(self) -> None:
        if self._held and self._writer is not None:
            self._held = False
            self._writer.hold("stdout", False)
