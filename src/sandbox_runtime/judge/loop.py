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
from sandbox_runtime.judge.guarded_job import GuardedJob, guard
from sandbox_runtime.judge.limits import fit_limits
from sandbox_runtime.judge.trial_runner import CheckerBroken, InconclusiveRun, TrialRunner, TrialRunnerConfig
from sandbox_runtime.judge.verdicts import decided_verdict, not_judged_case, platform_fault, trial_verdict
from sandbox_runtime.model import Blame, Job, JobResult, Trial, Verdict
from sandbox_runtime.telemetry import JudgeMetrics, Log

T = TypeVar("T")
_LONG_TEXT_CHARACTERS = 16 * 1024


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
        self._config = TrialRunnerConfig(allowance, options.attempts, self._again, options.parallel, options.preset)

    async def judge(self, trial: Trial, dataset: str = "") -> Verdict:
        """Raises only for a trial that cannot be served as it is (InvalidRequest, NotFound)."""
        began = time.monotonic()
        found = decided_verdict(trial) if trial.decided is not None else await self._judged(_check_trial(trial))
        self._metrics.record_verdict(dataset, found.reason, time.monotonic() - began)
        return found

    async def with_retries(self, once: Callable[[], Awaitable[T]]) -> T:
        """A step that may fail through our fault, as often as that is worth it."""
        return await self._config.attempts.make(once, self._again)

    async def run(self, job: Job) -> JobResult:
        """Something beside the graded program, such as a caller's extraction code. Raises our fault when it stays."""

        async def once() -> JobResult:
            async with self._engine.slot(no_retry=True) as place:
                result = await place.run(fit_limits(job, self._allowance))
            if fault := platform_fault(result):
                raise InconclusiveRun(fault, result)
            return result

        return await self.with_retries(once)

    async def _judged(self, trial: Trial) -> Verdict:
        sealed = await self._sealed(dataclasses.replace(trial, job=fit_limits(trial.job, self._allowance)))
        first = trial.cases[0]
        try:
            return await self._in_a_place(trial, sealed)
        except CheckerBroken as error:
            return trial_verdict(trial, [not_judged_case(first, str(error), None, Blame.caller)])
        except OUR_FAULTS as fault:
            self._log.warning("a completion was not judged", reason=str(fault))
            return trial_verdict(
                trial, [not_judged_case(first, str(fault), fault.result if isinstance(fault, InconclusiveRun) else None)]
            )

    async def _sealed(self, trial: Trial) -> GuardedJob:
        """Its cost depends on the text, so a long one is read in a thread."""
        if len(trial.job.code) + len(trial.guard.solution) + len(trial.guard.tests) < _LONG_TEXT_CHARACTERS:
            return guard(trial, given=self._given)
        return await asyncio.to_thread(guard, trial, given=self._given)

    async def _in_a_place(self, trial: Trial, sealed: GuardedJob) -> Verdict:
        async with AsyncExitStack() as stack:
            place = await self.with_retries(lambda: stack.enter_async_context(self._engine.slot(no_retry=True)))
            runner = TrialRunner(place, trial, sealed, self._config)
            cases = await runner.run_cases()
        return trial_verdict(trial, cases, runner.tamper, {"guard": sealed.separation, "evidence": sealed.evidence})

    def _again(self, fault: Exception) -> None:
        self._metrics.record_retry()
        self._log.info("a step of judging is tried again", reason=str(fault))


def _check_trial(trial: Trial) -> Trial:
    if not trial.cases:
        raise InvalidRequest("there is nothing to judge by: the problem has no cases")
    if (trial.check.job is None) == (trial.check.name in (checkers.PROGRAM, checkers.INTERACTIVE)):
        raise InvalidRequest(f"the checker {trial.check.name[:60]!r} needs a program, or has one that it does not need")
    return trial
