"""One build, many inputs: each input runs in a box of its own, so that none can leave anything to the next.

Theory of operation. The caller holds one place of the admission for as long as it takes: one input after another runs in it.
Where there are free places that nobody waits for, further inputs run beside it, up to `parallel` in all, and each gives its
place back when it ends: others who came meanwhile are served before the next input, and the job as a whole can never be refused
halfway. Inputs are begun in their order. When the caller wants no more after a failure, inputs behind the failed one are not
begun, those under way are stopped, and none of them has an outcome: the result is the same however many ran at once. A
cancelled caller stops all of them, and every box is closed before the caller hears of it.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Sequence

from sandbox_runtime.engine.admission import Admission
from sandbox_runtime.engine.boxed import Task
from sandbox_runtime.engine.task_runner import TaskRunner
from sandbox_runtime.errors import PlatformFault
from sandbox_runtime.model import Outcome, Output

_CUT_TO_BYTES = 64 * 1024
"""What is left of a stream once the outputs of all inputs together are over their bound."""


class Cases:
    """For one use. task: the job whose standard input is replaced, with its build where there is one; without one each input
    goes the whole way, compile step and all."""

    def __init__(self, runner: TaskRunner, admission: Admission, task: Task, inputs: Sequence[bytes | None]) -> None:
        self._runner = runner
        self._admission = admission
        self._task = task
        self._inputs = inputs
        self._outcomes: list[Outcome | None] = [None] * len(inputs)
        self._next = 0
        self._end = len(inputs)
        """No input from this one on has an outcome."""
        self._failed = len(inputs)
        """The first that failed so far."""
        self._running: dict[asyncio.Task[Outcome], tuple[int, float | None]] = {}
        """For each that runs: the number of its input, and when it entered; None for the one in the caller's own place."""

    async def run(self, parallel: int, stop_early: bool, most_bytes: int) -> tuple[Outcome | None, ...]:
        """The caller has entered the admission. most_bytes: of what they printed, all together; then outputs are cut."""
        try:
            self._begin(parallel)
            while self._running:
                done, _ = await asyncio.wait(self._running, return_when=asyncio.FIRST_COMPLETED)
                for ended in done:
                    most_bytes -= self._settle(ended, most_bytes)
                if stop_early:
                    self._stop_behind_a_failure()
                self._begin(parallel)
        finally:
            await self._stop(list(self._running))
        return tuple(self._outcomes)

    def _begin(self, parallel: int) -> None:
        """As many as there are places for; at least one, while there are inputs left."""
        while self._next < self._end and len(self._running) < parallel:
            entered = None
            if any(place is None for _, place in self._running.values()):
                entered = self._admission.enter_if_free()
                if entered is None:
                    return
            self._running[asyncio.create_task(self._one(self._inputs[self._next]))] = (self._next, entered)
            self._next += 1

    async def _one(self, stdin: bytes | None) -> Outcome:
        job = dataclasses.replace(self._task.job, stdin=stdin)
        result = await self._runner.run(dataclasses.replace(self._task, job=job))
        outcome = result.run or result.compile
        if outcome is None:
            raise PlatformFault("a run gave no outcome")
        return outcome

    def _settle(self, ended: asyncio.Task[Outcome], most_bytes: int) -> int:
        """Returns how many bytes of output were kept."""
        number, entered = self._running.pop(ended)
        if entered is not None:
            self._admission.leave(entered)
        if number >= self._end:
            return 0
        outcome = ended.result()
        if not outcome.ok:
            self._failed = min(self._failed, number)
        if _kept_bytes(outcome) > most_bytes:
            outcome = dataclasses.replace(outcome, stdout=_cut(outcome.stdout), stderr=_cut(outcome.stderr))
        self._outcomes[number] = outcome
        return _kept_bytes(outcome)

    def _stop_behind_a_failure(self) -> None:
        if self._failed >= self._end:
            return
        self._end = self._failed + 1
        self._outcomes[self._end :] = [None] * (len(self._outcomes) - self._end)
        for running, (number, _) in self._running.items():
            if number >= self._end:
                running.cancel()

    async def _stop(self, left: list[asyncio.Task[Outcome]]) -> None:
        """Each closes its own box on the way out, so that waiting for them is bounded as closing is."""
        for running in left:
            running.cancel()
        try:
            await asyncio.gather(*left, return_exceptions=True)
        finally:
            for _, entered in self._running.values():
                if entered is not None:
                    self._admission.leave(entered)
            self._running.clear()


def _kept_bytes(outcome: Outcome) -> int:
    return sum(len(part) for stream in (outcome.stdout, outcome.stderr) for part in (stream.head, stream.tail))


def _cut(stream: Output) -> Output:
    """Its beginning, and the truth about how much there was."""
    head = stream.head[:_CUT_TO_BYTES]
    return Output(head, b"", stream.total_bytes - len(head))
