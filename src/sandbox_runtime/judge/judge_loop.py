"""The judging loop: takes a trial, returns a verdict.

Steps: fit the limits to this machine, guard the job against tampering, wait for an engine slot, run the cases, build the verdict.
Each step (slot, build, case) is retried by itself after a platform fault. If the fault persists, the verdict is `not_judged`.
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
    attempts: Attempts = field(default_factory=Attempts)
    parallel: int = 4
    """Maximum concurrent cases of one trial; fewer while other requests wait."""
    preset: str = ""
    """Warm interpreter for graded Python programs. Empty: the interpreter of other programs."""
    harness_preloaded: bool = False
    """Whether that interpreter has the integrity harness loaded."""


class Loop:
    def __init__(self, engine: Engine, limits: RequestLimits, options: LoopOptions, metrics: JudgeMetrics, log: Log) -> None:
        self._engine = engine
        self._metrics = metrics
        self._log = log
        self._request_limits = limits
        self._harness_preloaded = options.harness_preloaded
        self._config = TrialRunnerConfig(limits, options.attempts, self._record_retry, options.parallel, options.preset)

    async def judge(self, trial: Trial, dataset: str = "") -> Verdict:
        """Return the verdict. Raises only for a trial that cannot be run as given (InvalidRequest, NotFound)."""
        start_s = time.monotonic()
        verdict = decided_verdict(trial) if trial.decided is not None else await self._judge(_check_trial(trial))
        self._metrics.record_verdict(dataset, verdict.reason, time.monotonic() - start_s)
        return verdict

    async def with_retries(self, once: Callable[[], Awaitable[T]]) -> T:
        """Call `once` until it raises no platform fault; raise the last fault when the attempts are used up."""
        return await self._config.attempts.make(once, self._record_retry)

    async def run(self, job: Job) -> JobResult:
        """Run a job beside the graded program, such as a caller's extraction code. Raises a platform fault that persists."""

        async def once() -> JobResult:
            async with self._engine.slot(no_retry=True) as slot:
                result = await slot.run(fit_limits(job, self._request_limits))
            if fault := platform_fault(result):
                raise InconclusiveRun(fault, result)
            return result

        return await self.with_retries(once)

    async def _judge(self, trial: Trial) -> Verdict:
        guarded = await self._guard(dataclasses.replace(trial, job=fit_limits(trial.job, self._request_limits)))
        first = trial.cases[0]
        try:
            return await self._run_in_slot(trial, guarded)
        except CheckerBroken as error:
            return trial_verdict(trial, [not_judged_case(first, str(error), None, Blame.caller)])
        except OUR_FAULTS as fault:
            self._log.warning("a completion was not judged", reason=str(fault))
            result = fault.result if isinstance(fault, InconclusiveRun) else None
            return trial_verdict(trial, [not_judged_case(first, str(fault), result)])

    async def _guard(self, trial: Trial) -> GuardedJob:
        """Guard the job, in a thread if its texts are long: the cost grows with their length."""
        if len(trial.job.code) + len(trial.guard.solution) + len(trial.guard.tests) < _LONG_TEXT_CHARACTERS:
            return guard(trial, harness_preloaded=self._harness_preloaded)
        return await asyncio.to_thread(guard, trial, harness_preloaded=self._harness_preloaded)

    async def _run_in_slot(self, trial: Trial, guarded: GuardedJob) -> Verdict:
        async with AsyncExitStack() as stack:
            slot = await self.with_retries(lambda: stack.enter_async_context(self._engine.slot(no_retry=True)))
            runner = TrialRunner(slot, trial, guarded, self._config)
            cases = await runner.run_cases()
        return trial_verdict(trial, cases, runner.tamper, {"guard": guarded.separation, "evidence": guarded.evidence})

    def _record_retry(self, fault: Exception) -> None:
        self._metrics.record_retry()
        self._log.info("a step of judging is tried again", reason=str(fault))


def _check_trial(trial: Trial) -> Trial:
    if not trial.cases:
        raise InvalidRequest("the problem has no cases, so nothing can be judged")
    if (trial.check.job is None) == (trial.check.name in (checkers.PROGRAM, checkers.INTERACTIVE)):
        name = trial.check.name[:60]
        raise InvalidRequest(f"checker {name!r}: a program is required for 'program' and 'interactive', and for no other checker")
    return trial
