"""One trial in one place of the engine: build, run its cases, ask the checker, until all is known or one has failed.

Every step that can break through a fault of ours is tried again by itself. A case that could not be judged after all has a
verdict that says so; only what concerns the trial as a whole (its build, the checker's build) is raised.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from sandbox_runtime.engine import BuiltProgram, EngineSlot, OutputBudget, RequestLimits
from sandbox_runtime.errors import PlatformFault
from sandbox_runtime.judge import checkers
from sandbox_runtime.judge.attempts import OUR_FAULTS, Attempts
from sandbox_runtime.judge.checkers import CheckResult, Compare
from sandbox_runtime.judge.checkers.program import ANSWER, INPUT, OUTPUT, checker_message, read_checker_result
from sandbox_runtime.judge.guarded_job import GuardedJob
from sandbox_runtime.judge.interaction import interactive_result
from sandbox_runtime.judge.limits import fit_limits, with_more_wall_time
from sandbox_runtime.judge.verdicts import (
    case_verdict,
    failure_reason,
    last_outcome,
    maybe_delayed,
    maybe_killed,
    maybe_starved,
    not_judged_case,
    platform_fault,
)
from sandbox_runtime.model import Blame, Case, CaseVerdict, File, Job, JobResult, Outcome, Reason, Trial

_LONG_TEXT_CHARACTERS = 64 * 1024
"""From here on texts are compared in a thread, because others wait for this one."""
_INTERACTOR_EXTRA_S = 5.0
_MAX_MESSAGE_CHARACTERS = 400


class InconclusiveRun(PlatformFault):
    """A run that says nothing of its program."""

    def __init__(self, message: str, result: JobResult | None = None) -> None:
        super().__init__(message)
        self.result = result


class CheckerBroken(Exception):
    """The checker or interactor itself does not work: nothing can be said, however often it is tried."""


@dataclass(frozen=True, slots=True)
class TrialRunnerConfig:
    """parallel: cases of one trial that run at once. preset: the warm interpreter of graded programs."""

    allowance: RequestLimits
    attempts: Attempts
    on_retry: Callable[[Exception], None]
    parallel: int
    preset: str


class TrialRunner:
    """For one use."""

    def __init__(self, place: EngineSlot, trial: Trial, sealed: GuardedJob, means: TrialRunnerConfig) -> None:
        self._place = place
        self._trial = trial
        self._guarded = sealed
        self._config = means
        self.tamper: tuple[str, ...] = ()
        """What its cases did to their own grading, once they were heard."""
        self._budget = OutputBudget(means.allowance.quotas.max_total_bytes)
        self._compare = _find_compare(trial)
        self._program: BuiltProgram | None = None
        self._partner: BuiltProgram | None = None

    async def run_cases(self) -> tuple[CaseVerdict, ...]:
        if len(self._trial.cases) == 1 and self._trial.check.job is None:
            return (await self._safely(self._trial.cases[0]),)
        self._program = await self._config.attempts.make(self._built(), self._config.on_retry)
        if not self._program.runnable:
            result = JobResult(self._program.compile, None)
            shown = self._trial.cases if self._trial.run_all else self._trial.cases[:1]
            return tuple([await self._settle(case, result) for case in shown])
        if self._trial.check.job is not None:
            self._partner = await self._config.attempts.make(self._built(partner=True), self._config.on_retry)
            _check_compiled(self._partner)
        found = await self._place.run_each(
            len(self._trial.cases),
            self._numbered,
            _is_failed,
            parallel=self._config.parallel,
            stop_early=not self._trial.run_all,
        )
        return tuple(case for case in found if case is not None)

    def _built(self, *, partner: bool = False) -> Callable[[], Awaitable[BuiltProgram]]:
        """partner: not the graded program, but its checker or interactor."""
        job, preset = (self._partners_job(), "") if partner else (self._guarded.job, self._config.preset)
        doubt = FlakyRunGuard(self._config.attempts.most - 1)

        async def once() -> BuiltProgram:
            longer = dataclasses.replace(job, compile_limits=with_more_wall_time(job, self._config.allowance).compile_limits)
            program = await self._place.build(longer if doubt.starved else job, preset=preset)
            if not program.runnable:
                doubt.check(JobResult(program.compile, None))
            return program

        return once

    def _partners_job(self) -> Job:
        job = self._trial.check.job
        assert job is not None
        job = fit_limits(job, self._config.allowance)
        return self._patient(job) if self._trial.check.name == checkers.INTERACTIVE else job

    def _patient(self, job: Job) -> Job:
        """So that of two that wait for each other the solution's time is up first."""
        wall_s = max(job.run_limits.wall_s, self._guarded.job.run_limits.wall_s + _INTERACTOR_EXTRA_S)
        wall_s = min(wall_s, self._config.allowance.max_wall_s)
        return dataclasses.replace(job, run_limits=job.run_limits.replace(wall_s=wall_s))

    async def _numbered(self, number: int) -> CaseVerdict:
        return await self._safely(self._trial.cases[number])

    async def _safely(self, case: Case) -> CaseVerdict:
        try:
            return self._within_budget(await self._case(case))
        except OUR_FAULTS as fault:
            return not_judged_case(case, str(fault), fault.result if isinstance(fault, InconclusiveRun) else None)

    def _within_budget(self, verdict: CaseVerdict) -> CaseVerdict:
        return verdict if verdict.run is None else dataclasses.replace(verdict, run=self._budget.trim(verdict.run))

    async def _case(self, case: Case) -> CaseVerdict:
        if self._trial.check.name == checkers.INTERACTIVE:
            return await self._interactive(case)
        return await self._settle(case, await self._sure(lambda longer: self._run(case, longer)))

    async def _run(self, case: Case, longer: bool) -> JobResult:
        stdin = case.stdin if self._guarded.stdin is None else self._guarded.stdin
        job = with_more_wall_time(self._guarded.job, self._config.allowance) if longer else self._guarded.job
        if self._program is None:
            return await self._place.run(dataclasses.replace(job, stdin=stdin), preset=self._config.preset)
        result = await self._place.run_case(self._program, stdin, limits=job.run_limits)
        return dataclasses.replace(result, compile=self._program.compile)

    async def _sure(self, run: Callable[[bool], Awaitable[JobResult]]) -> JobResult:
        """A result that says something of the program. run is told whether it may take longer than usual."""
        doubt = FlakyRunGuard(self._config.attempts.most - 1)

        async def once() -> JobResult:
            result = await run(doubt.starved)
            doubt.check(result)
            return result

        return await self._config.attempts.make(once, self._config.on_retry)

    async def _settle(self, case: Case, result: JobResult) -> CaseVerdict:
        inspected = self._guarded.inspect(result)
        result, self.tamper = inspected.result, (*self.tamper, *inspected.tamper)
        if inspected.check_result is not None:
            return case_verdict(case, result, inspected.check_result, _blame_for(inspected.check_result))
        failed = failure_reason(result)
        if failed is not None:
            outcome = last_outcome(result)
            return case_verdict(
                case, result, CheckResult(failed[0], (outcome and outcome.message) or inspected.message), failed[1]
            )
        assert result.run is not None
        return await self._checked(case, result, result.run)

    async def _checked(self, case: Case, result: JobResult, run: Outcome) -> CaseVerdict:
        if self._partner is not None:
            return await self._asked(case, result, run, self._partner)
        if self._compare is None:
            return case_verdict(case, result, checkers.ACCEPTED, None)
        if run.stdout.dropped_bytes:
            return self._too_much(case, result, run)
        found = await _compare_output(self._compare, case.expected, run.stdout.text)
        return case_verdict(case, result, found, _blame_for(found))

    def _too_much(self, case: Case, result: JobResult, run: Outcome) -> CaseVerdict:
        """Of an output that was not kept whole nothing can be said but that it is too long, unless the right one is as well."""
        kept = len(run.stdout.head) + len(run.stdout.tail)
        if len(case.expected.encode(errors="surrogatepass")) > kept // 2:
            return not_judged_case(
                case, "the expected output is longer than what is kept of outputs: raise output_keep_bytes", result
            )
        return case_verdict(case, result, CheckResult(Reason.output_limit, "far more was printed than expected"), Blame.program)

    async def _asked(self, case: Case, result: JobResult, run: Outcome, checker: BuiltProgram) -> CaseVerdict:
        files = (File(INPUT, case.stdin or b""), File(OUTPUT, bytes(run.stdout)), File(ANSWER, _encode(case.expected)))
        checked = await self._sure(lambda _: self._place.run_case(checker, None, args=(INPUT, OUTPUT, ANSWER), files=files))
        outcome = last_outcome(checked)
        assert outcome is not None
        found = read_checker_result(outcome)
        if found is None:
            return not_judged_case(
                case, f"the checker failed: {outcome.message or checker_message(outcome) or outcome.ending}", result, Blame.caller
            )
        return case_verdict(case, result, found, _blame_for(found))

    async def _interactive(self, case: Case) -> CaseVerdict:
        return await self._config.attempts.make(lambda: self._talk(case), self._config.on_retry)

    async def _talk(self, case: Case) -> CaseVerdict:
        assert self._program is not None and self._partner is not None
        files = (File(INPUT, case.stdin or b""), File(ANSWER, _encode(case.expected)))
        joined = await self._place.run_interactive(self._program, self._partner, args=(INPUT, OUTPUT, ANSWER), files=files)
        result = JobResult(self._program.compile, joined.first)
        for outcome in (joined.first, joined.second):
            if outcome.blame is Blame.platform:
                raise InconclusiveRun(outcome.message, result)
        found, blame = interactive_result(joined, compiled=self._program.compile is not None)
        if found.reason is Reason.not_judged and blame is Blame.platform:
            raise InconclusiveRun(found.message, result)
        return case_verdict(case, result, found, blame)


def _find_compare(trial: Trial) -> Compare | None:
    name = trial.check.name
    if name in (checkers.STATUS, checkers.PROGRAM, checkers.INTERACTIVE):
        return None
    return checkers.find_checker(name, trial.check.options)


async def _compare_output(compare: Compare, expected: str, printed: str) -> CheckResult:
    if len(expected) + len(printed) < _LONG_TEXT_CHARACTERS:
        return compare(expected, printed)
    return await asyncio.to_thread(compare, expected, printed)


def _check_compiled(program: BuiltProgram) -> None:
    outcome = program.compile
    if outcome is not None and not outcome.ok:
        raise CheckerBroken(f"the checker does not compile: {outcome.message or outcome.stderr.text[-_MAX_MESSAGE_CHARACTERS:]}")


class FlakyRunGuard:
    """Whether a result says anything of the program, over several attempts at the same. A program that seems to have been killed
    is run again so many times before it is believed that it kills itself; one that may have been held up, once."""

    def __init__(self, times: int) -> None:
        self._left = times
        self._patience = min(times, 1)
        self.starved = False
        """Whether others had the turns of a program whose time ran out: then it may have more of it."""

    def check(self, result: JobResult) -> None:
        """Raises InconclusiveRun where it says nothing."""
        if fault := platform_fault(result):
            raise InconclusiveRun(fault, result)
        if self._left and maybe_killed(result):
            self._left -= 1
            raise InconclusiveRun("the program was killed, maybe not by itself", result)
        if self._patience and maybe_delayed(result):
            self._patience -= 1
            self.starved = maybe_starved(result)
            raise InconclusiveRun("the time of a program ran out while it had less than its share of the processor", result)


def _is_failed(case: CaseVerdict) -> bool:
    return not case.passed


def _blame_for(found: CheckResult) -> Blame | None:
    return None if found.passed else Blame.program


def _encode(text: str) -> bytes:
    return text.encode(errors="surrogatepass")
