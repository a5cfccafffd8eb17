"""The one judging loop: a trial in, a verdict out.

The way of a trial: fit its limits to this machine, seal it against what it might do to its own grading, wait for a place, hear
its cases, tell the verdict. Each step (the place, a build, a case) is tried again by itself where the platform fails, and by
nobody else; when the fault stays, the verdict is that nothing was judged.
"""

from __future__ import annotations

import asyncio
import dataclasses
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import TypeVar

from sandbox_runtime.engine import Engine, RequestLimits
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.judge import checkers
from sandbox_runtime.judge.attempts import OUR_FAULTS, Attempts
from sandbox_runtime.judge.guarded_job import Sealed, seal
from sandbox_runtime.judge.limits import fitted
from sandbox_runtime.judge.trial_runner import CannotCheck, Hearing, Lost, Means
from sandbox_runtime.judge.verdicts import decided, our_fault, unjudged, verdict
from sandbox_runtime.model import Blame, Job, JobResult, Trial, Verdict
from sandbox_runtime.telemetry import JudgeMetrics, Log

T = TypeVar("T")
_LONG_TEXT = 16 * 1024


@dataclass(frozen=True, slots=True)
class LoopOptions:
    """parallel: cases of one trial that run at once; fewer do while others wait. preset: the warm interpreter of graded Python
    programs; empty: as all others. given: whether that interpreter has the harness of integrity loaded."""

    attempts: Attempts = field(default_factory=Attempts)
    parallel: int = 4
    preset: str = ""
    given: bool = False


class Loop:
    def __init__(self, engine: Engine, allowance: RequestLimits, options: LoopOptions, metrics: JudgeMetrics, log: Log) -> None:
        self._engine = engine
        self._metrics = metrics
        self._log = log
        self._allowance = allowance
        self._given = options.given
        self._means = Means(allowance, options.attempts, self._again, options.parallel, options.preset)

    async def judge(self, trial: Trial, dataset: str = "") -> Verdict:
        """Raises only for a trial that cannot be served as it is (InvalidRequest, NotFound)."""
        began = time.monotonic()
        found = decided(trial) if trial.decided is not None else await self._judged(_served(trial))
        self._metrics.record_verdict(dataset, found.reason, time.monotonic() - began)
        return found

    async def persist(self, once: Callable[[], Awaitable[T]]) -> T:
        """A step that may fail through our fault, as often as that is worth it."""
        return await self._means.attempts.make(once, self._again)

    async def run(self, job: Job) -> JobResult:
        """Something beside the graded program, such as a caller's extraction code. Raises our fault when it stays."""

        async def once() -> JobResult:
            async with self._engine.slot(no_retry=True) as place:
                result = await place.run(fitted(job, self._allowance))
            if fault := our_fault(result):
                raise Lost(fault, result)
            return result

        return await self.persist(once)

    async def _judged(self, trial: Trial) -> Verdict:
        sealed = await self._sealed(dataclasses.replace(trial, job=fitted(trial.job, self._allowance)))
        first = trial.cases[0]
        try:
            return await self._in_a_place(trial, sealed)
        except CannotCheck as error:
            return verdict(trial, [unjudged(first, str(error), None, Blame.caller)])
        except OUR_FAULTS as fault:
            self._log.warning("a completion was not judged", reason=str(fault))
            return verdict(trial, [unjudged(first, str(fault), fault.result if isinstance(fault, Lost) else None)])

    async def _sealed(self, trial: Trial) -> Sealed:
        """Its cost depends on the text, so a long one is read in a thread."""
        if len(trial.job.code) + len(trial.guard.solution) + len(trial.guard.tests) < _LONG_TEXT:
            return seal(trial, given=self._given)
        return await asyncio.to_thread(seal, trial, given=self._given)

    async def _in_a_place(self, trial: Trial, sealed: Sealed) -> Verdict:
        async with AsyncExitStack() as stack:
            place = await self.persist(lambda: stack.enter_async_context(self._engine.slot(no_retry=True)))
            hearing = Hearing(place, trial, sealed, self._means)
            cases = await hearing.cases()
        return verdict(trial, cases, hearing.tamper, {"guard": sealed.guard, "evidence": sealed.evidence})

    def _again(self, fault: Exception) -> None:
        self._metrics.record_retry()
        self._log.info("a step of judging is tried again", reason=str(fault))


def _served(trial: Trial) -> Trial:
    if not trial.cases:
        raise InvalidRequest("there is nothing to judge by: the problem has no cases")
    if (trial.check.job is None) == (trial.check.name in (checkers.PROGRAM, checkers.INTERACTIVE)):
        raise InvalidRequest(f"the checker {trial.check.name[:60]!r} needs a program, or has one that it does not need")
    return trial
