"""Two programs in two boxes, each reading what the other prints.

Theory of operation. Both start with open standard inputs, and a listener on each output feeds the other's input. If the reader
falls behind, the writer's output stays in its pipe until the reader catches up. So an endless writer blocks as on a kernel
pipe, and the server buffers no more than one pipe's worth. When one ends, the other reads end of file; when one fails, the
other is cancelled. Each has its own limits; the wall limit also ends two programs that wait for each other.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from sandbox_runtime.engine.run.box_run import BoxRun, Task
from sandbox_runtime.engine.run.command import GRACE_S
from sandbox_runtime.engine.run.task_runner import TaskRunner
from sandbox_runtime.errors import InvalidRequest, PlatformFault
from sandbox_runtime.isolation.port import RunningCommand
from sandbox_runtime.model.outcome import Blame, Outcome

MAX_UNREAD_BYTES = 64 * 1024
"""The capacity of a kernel pipe."""


@dataclass(frozen=True, slots=True)
class InteractiveResult:
    first: Outcome
    second: Outcome
    first_ended_first: bool


async def run_interactive(runner: TaskRunner, first: Task, second: Task) -> InteractiveResult:
    """Run two runnable tasks. Raises PlatformFault if a box does not answer in time. Cancelling cancels both."""
    async with AsyncExitStack() as stack:
        boxes = [await stack.enter_async_context(runner.open_box(task)) for task in (first, second)]
        for boxed in boxes:
            await _prepare(boxed)
        async with _start_both(boxes) as (one, other):
            result = await _wait_both(one, other, max(boxed.command().limits.wall_s for boxed in boxes))
    for boxed, outcome in zip(boxes, (result.first, result.second), strict=True):
        boxed.record_metrics(outcome)
        if outcome.blame is Blame.platform:
            runner.report_broken(boxed.task, outcome)
    return result


async def _prepare(boxed: BoxRun) -> None:
    """Stage the program. What could not be moved from its build box is built again."""
    compile_outcome = await boxed.prepare()
    if compile_outcome is not None and not compile_outcome.ok:
        raise PlatformFault(f"the program did not compile again: {compile_outcome.message or compile_outcome.ending}")


@asynccontextmanager
async def _start_both(boxes: list[BoxRun]) -> AsyncIterator[tuple[RunningCommand, RunningCommand]]:
    relays = (_Relay(), _Relay())
    running: list[RunningCommand] = []
    try:
        for boxed, relay in zip(boxes, relays, strict=True):
            running.append(await boxed.box.start(boxed.command(), sink=relay.on_output, interactive=True))
        one, other = running
        relays[0].connect(one, other)
        relays[1].connect(other, one)
        yield one, other
    finally:
        for command in running:
            command.cancel()


async def _wait_both(one: RunningCommand, other: RunningCommand, wall_s: float) -> InteractiveResult:
    first, second = asyncio.ensure_future(_wait_one(one, other)), asyncio.ensure_future(_wait_one(other, one))
    try:
        done, _ = await asyncio.wait((first, second), timeout=wall_s + GRACE_S, return_when=asyncio.FIRST_COMPLETED)
        _, left = await asyncio.wait((first, second), timeout=wall_s + GRACE_S)
        if left:
            raise PlatformFault("a box did not answer in time")
        return InteractiveResult(first.result(), second.result(), first in done)
    finally:
        first.cancel()
        second.cancel()


async def _wait_one(command: RunningCommand, partner: RunningCommand) -> Outcome:
    outcome = await command.wait()
    partner.end_input()
    if not outcome.ok:
        partner.cancel()
    return outcome


class _Relay:
    """Forwards one program's output to the other's input. Output before connect() is buffered."""

    def __init__(self) -> None:
        self._early: list[bytes] = []
        self._writer: RunningCommand | None = None
        self._reader: RunningCommand | None = None
        self._paused = False

    def on_output(self, stream: str, piece: bytes) -> None:
        if stream != "stdout":
            return
        if self._reader is None:
            self._early.append(piece)
        else:
            self._forward(self._reader, piece)

    def connect(self, writer: RunningCommand, reader: RunningCommand) -> None:
        self._writer, self._reader = writer, reader
        reader.on_stdin_drained = self._resume
        for piece in self._early:
            self._forward(reader, piece)
        self._early.clear()

    def _forward(self, reader: RunningCommand, piece: bytes) -> None:
        with contextlib.suppress(InvalidRequest):  # the reader has closed its input: drop the output
            reader.feed(piece)
        if self._writer is not None and reader.unread_bytes > MAX_UNREAD_BYTES:
            self._paused = True
            self._writer.pause_output("stdout", True)

    def _resume(self) -> None:
        if self._paused and self._writer is not None:
            self._paused = False
            self._writer.pause_output("stdout", False)
