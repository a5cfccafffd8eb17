"""Run many inputs of one job, in order, several concurrently while slots are free.

Theory of operation. The caller holds one slot of the admission for the whole time: one input after another runs in it. While
there are free slots that no request waits for, more inputs run beside it, up to `parallel` in all. Each of those releases its
slot when it ends, so other requests are served before the next input, and the job is never refused halfway. Inputs start in
order. If the caller wants to stop after a failure, inputs after the failed one do not start, running ones are cancelled, and
none of them has a result: the output is the same for any concurrency. Cancelling the caller stops all inputs, and every box is
closed before the caller continues.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

from sandbox_runtime.engine.admission import Admission
from sandbox_runtime.model.outcome import Outcome, Output

_CUT_TO_BYTES = 64 * 1024
"""Bytes kept of a stream once the output of all inputs together exceeds its bound."""

ResultT = TypeVar("ResultT")


class CaseScheduler(Generic[ResultT]):
    """Schedules the cases of one job; for one use.

    - run_case: runs the case of a number.
    - is_failure: whether a result counts as a failure.
    """

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
        """No case from this number on has a result."""
        self._first_failure = count
        """Number of the first failed case so far."""
        self._running: dict[asyncio.Task[ResultT], tuple[int, float | None]] = {}
        """Number and admission time of each running case; the time is None for the case in the caller's own slot."""

    async def run(self, parallel: int, stop_early: bool) -> tuple[ResultT | None, ...]:
        """Run all cases. The caller must hold a slot."""
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
        """Start as many cases as there are slots; at least one while cases are left."""
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
        """Cancel and wait. Each case closes its own box, so the wait is bounded."""
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
    """Bounds the total output of many cases; later output is cut."""

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
    """Keep the beginning, and count the rest as dropped."""
    head = stream.head[:_CUT_TO_BYTES]
    return Output(head, b"", stream.total_bytes - len(head))
