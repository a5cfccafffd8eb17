"""Many inputs of one job, in the order they came, several at once where there is room.

Theory of operation. The caller holds one place of the admission for as long as it takes: one input after another runs in it.
Where there are free places that nobody waits for, further inputs run beside it, up to `parallel` in all, and each gives its
place back when it ends: others who came meanwhile are served before the next input, and the job as a whole can never be refused
halfway. Inputs are begun in their order. When the caller wants no more after a failure, inputs behind the failed one are not
begun, those under way are stopped, and none of them has a result: what comes out is the same however many ran at once. A
cancelled caller stops all of them, and every box is closed before the caller hears of it.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

from sandbox_runtime.engine.admission import Admission
from sandbox_runtime.model import Outcome, Output

_CUT_TO_BYTES = 64 * 1024
"""What is left of a stream once the outputs of all inputs together are over their bound."""

ResultT = TypeVar("ResultT")


class CaseScheduler(Generic[ResultT]):
    """For one use. one: what to do for the input of a number; failed: whether what came of it ends the matter."""

    def __init__(
        self,
        admission: Admission,
        count: int,
        run_case: Callable[[int], Coroutine[Any, Any, ResultT]],
        is_failure: Callable[[ResultT], bool],
    ) -> None:
        self._admission = admission
        self._run_case = run_case
        self._is_failure = is_failure
        self._results: list[ResultT | None] = [None] * count
        self._next = 0
        self._end = count
        """No input from this one on has a result."""
        self._first_failure = count
        """The first that failed so far."""
        self._running: dict[asyncio.Task[ResultT], tuple[int, float | None]] = {}
        """For each that runs: the number of its input, and when it entered; None for the one in the caller's own place."""

    async def run(self, parallel: int, stop_early: bool) -> tuple[ResultT | None, ...]:
        """The caller has entered the admission."""
        try:
            self._begin(parallel)
            while self._running:
                done, _ = await asyncio.wait(self._running, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    self._collect(task)
                if stop_early:
                    self._stop_after_failure()
                self._begin(parallel)
        finally:
            await self._stop(list(self._running))
        return tuple(self._results)

    def _begin(self, parallel: int) -> None:
        """As many as there are places for; at least one, while there are inputs left."""
        while self._next < self._end and len(self._running) < parallel:
            entered = None
            if any(slot is None for _, slot in self._running.values()):
                entered = self._admission.enter_if_free()
                if entered is None:
                    return
            self._running[asyncio.create_task(self._run_case(self._next))] = (self._next, entered)
            self._next += 1

    def _collect(self, task: asyncio.Task[ResultT]) -> None:
        number, entered = self._running.pop(task)
        if entered is not None:
            self._admission.leave(entered)
        if number >= self._end:
            return
        self._results[number] = result = task.result()
        if self._is_failure(result):
            self._first_failure = min(self._first_failure, number)

    def _stop_after_failure(self) -> None:
        if self._first_failure >= self._end:
            return
        self._end = self._first_failure + 1
        self._results[self._end :] = [None] * (len(self._results) - self._end)
        for running, (number, _) in self._running.items():
            if number >= self._end:
                running.cancel()

    async def _stop(self, left: list[asyncio.Task[ResultT]]) -> None:
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


class OutputBudget:
    """How much of what many inputs printed is kept, all together; what comes when it is used up is cut."""

    def __init__(self, max_bytes: int) -> None:
        self._left_bytes = max_bytes

    def trim(self, outcome: Outcome) -> Outcome:
        if _output_bytes(outcome) > self._left_bytes:
            outcome = dataclasses.replace(outcome, stdout=_cut(outcome.stdout), stderr=_cut(outcome.stderr))
        self._left_bytes -= _output_bytes(outcome)
        return outcome


def _output_bytes(outcome: Outcome) -> int:
    return sum(len(part) for stream in (outcome.stdout, outcome.stderr) for part in (stream.head, stream.tail))


def _cut(stream: Output) -> Output:
    """Its beginning, and the truth about how much there was."""
    head = stream.head[:_CUT_TO_BYTES]
    return Output(head, b"", stream.total_bytes - len(head))
