"""Run one trial in one engine slot: build the program, run its cases and check each output.

A step that fails through a platform fault is retried by itself. A case that still cannot be judged gets a `not_judged` verdict.
Only failures of the whole trial (the build of the program or of its checker) are raised.
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
"""Longer texts are compared in a thread, so that the event loop is not blocked."""
_INTERACTOR_EXTRA_S = 5.0
_MAX_MESSAGE_CHARACTERS = 400


class InconclusiveRun(PlatformFault):
    """A run whose result says nothing about the program."""

    def __init__(self, message: str, result: JobResult | None = None) -> None:
        super().__init__(message)
        self.result = result


class CheckerBroken(Exception):
    """The checker or interactor itself does not work. Retrying does not help."""


@dataclass(frozen=True, slots=True)
class TrialRunnerConfig:
    request_limits: RequestLimits
    attempts: Attempts
    on_retry: Callable[[Exception], None]
    parallel: int
    """Maximum concurrent cases of one trial."""
    preset: str
    """Warm interpreter for graded programs."""


class TrialRunner:
    """Runs the cases of one trial. Use each instance once."""

    def __init__(self, slot: EngineSlot, trial: Trial, guarded: GuardedJob, config: TrialRunnerConfig) -> None:
        self._slot = slot
        self._trial = trial
        self._guarded = guarded
        self._config = config
        self.tamper: tuple[str, ...] = ()
        """Ways in which the program interfered with its own grading; complete after `run_cases`."""
        self._budget = OutputBudget(config.request_limits.quotas.max_total_bytes)
        self._compare = _find_compare(trial)
        self._program: BuiltProgram | None = None
        self._checker: BuiltProgram | None = None
        """The built checker or interactor, if the trial has one."""

    async def run_cases(self) -> tuple[CaseVerdict, ...]:
        if len(self._trial.cases) == 1 and self._trial.check.job is None:
            return (await self._judge_case(self._trial.cases[0]),)
        self._program = await self._build(self._guarded.job, self._config.preset)
        if not self._program.runnable:
            result = JobResult(self._program.compile, None)
            shown = self._trial.cases if self._trial.run_all else self._trial.cases[:1]
            return tuple([await self._judge_result(case, result) for case in shown])
        if self._trial.check.job is not None:
            self._checker = await self._build(self._checker_job(self._trial.check.job))
            _check_compiled(self._checker)
        return await self._run_all()

    async def _run_all(self) -> tuple[CaseVerdict, ...]:
        verdicts = await self._slot.run_each(
            len(self._trial.cases),
            lambda number: self._judge_case(self._trial.cases[number]),
            _is_failed,
            parallel=self._config.parallel,
            stop_early=not self._trial.run_all,
        )
        return tuple(verdict for verdict in verdicts if verdict is not None)

    async def _build(self, job: Job, preset: str = "") -> BuiltProgram:
        flaky = FlakyRunGuard(self._config.attempts.most - 1)

        async def once() -> BuiltProgram:
            extended = with_more_wall_time(job, self._config.request_limits)
            longer = dataclasses.replace(job, compile_limits=extended.compile_limits)
            program = await self._slot.build(longer if flaky.starved else job, preset=preset)
            if not program.runnable:
                flaky.check(JobResult(program.compile, None))
            return program

        return await self._config.attempts.make(once, self._config.on_retry)

    def _checker_job(self, job: Job) -> Job:
        job = fit_limits(job, self._config.request_limits)
        return self._outlasting_solution(job) if self._trial.check.name == checkers.INTERACTIVE else job

    def _outlasting_solution(self, job: Job) -> Job:
        """Give the interactor more wall time than the solution, so that the solution times out first if both wait."""
        wall_s = max(job.run_limits.wall_s, self._guarded.job.run_limits.wall_s + _INTERACTOR_EXTRA_S)
        wall_s = min(wall_s, self._config.request_limits.max_wall_s)
        return dataclasses.replace(job, run_limits=job.run_limits.replace(wall_s=wall_s))

    async def _judge_case(self, case: Case) -> CaseVerdict:
        """Return the verdict of the case; `not_judged` if a platform fault persists."""
        try:
            return self._within_budget(await self._run_and_check(case))
        except OUR_FAULTS as fault:
            return not_judged_case(case, str(fault), fault.result if isinstance(fault, InconclusiveRun) else None)

    def _within_budget(self, verdict: CaseVerdict) -> CaseVerdict:
        return verdict if verdict.run is None else dataclasses.replace(verdict, run=self._budget.trim(verdict.run))

    async def _run_and_check(self, case: Case) -> CaseVerdict:
        if self._trial.check.name == checkers.INTERACTIVE:
            return await self._config.attempts.make(lambda: self._interact(case), self._config.on_retry)
        return await self._judge_result(case, await self._run_conclusively(lambda longer: self._run(case, longer)))

    async def _run(self, case: Case, longer: bool) -> JobResult:
        stdin = case.stdin if self._guarded.stdin is None else self._guarded.stdin
        job = with_more_wall_time(self._guarded.job, self._config.request_limits) if longer else self._guarded.job
        if self._program is None:
            return await self._slot.run(dataclasses.replace(job, stdin=stdin), preset=self._config.preset)
        result = await self._slot.run_case(self._program, stdin, limits=job.run_limits)
        return dataclasses.replace(result, compile=self._program.compile)

    async def _run_conclusively(self, run: Callable[[bool], Awaitable[JobResult]]) -> JobResult:
        """Repeat a run until its result says something about the program. `run` takes whether it gets more wall time."""
        flaky = FlakyRunGuard(self._config.attempts.most - 1)

        async def once() -> JobResult:
            result = await run(flaky.starved)
            flaky.check(result)
            return result

        return await self._config.attempts.make(once, self._config.on_retry)

    async def _judge_result(self, case: Case, result: JobResult) -> CaseVerdict:
        inspected = self._guarded.inspect(result)
        result, self.tamper = inspected.result, (*self.tamper, *inspected.tamper)
        if inspected.check_result is not None:
            return case_verdict(case, result, inspected.check_result, _blame_for(inspected.check_result))
        failure = failure_reason(result)
        if failure is not None:
            outcome = last_outcome(result)
            message = (outcome and outcome.message) or inspected.message
            return case_verdict(case, result, CheckResult(failure[0], message), failure[1])
        assert result.run is not None
        return await self._check_output(case, result, result.run)

    async def _check_output(self, case: Case, result: JobResult, run: Outcome) -> CaseVerdict:
        if self._checker is not None:
            return await self._run_checker(case, result, run, self._checker)
        if self._compare is None:
            return case_verdict(case, result, checkers.ACCEPTED, None)
        if run.stdout.dropped_bytes:
            return self._truncated_verdict(case, result, run)
        checked = await _compare_output(self._compare, case.expected, run.stdout.text)
        return case_verdict(case, result, checked, _blame_for(checked))

    def _truncated_verdict(self, case: Case, result: JobResult, run: Outcome) -> CaseVerdict:
        """A truncated output cannot be compared. It is too long, unless the expected output would be truncated as well."""
        kept = len(run.stdout.head) + len(run.stdout.tail)
        if len(case.expected.encode(errors="surrogatepass")) > kept // 2:
            message = "the expected output is longer than the output that is kept: raise output_keep_bytes"
            return not_judged_case(case, message, result)
        return case_verdict(case, result, CheckResult(Reason.output_limit, "far more was printed than expected"), Blame.program)

    async def _run_checker(self, case: Case, result: JobResult, run: Outcome, checker: BuiltProgram) -> CaseVerdict:
        files = (File(INPUT, case.stdin or b""), File(OUTPUT, bytes(run.stdout)), File(ANSWER, _encode(case.expected)))
        arguments = (INPUT, OUTPUT, ANSWER)
        checked = await self._run_conclusively(lambda _: self._slot.run_case(checker, None, args=arguments, files=files))
        outcome = last_outcome(checked)
        assert outcome is not None
        check_result = read_checker_result(outcome)
        if check_result is None:
            message = f"the checker failed: {outcome.message or checker_message(outcome) or outcome.ending}"
            return not_judged_case(case, message, result, Blame.caller)
        return case_verdict(case, result, check_result, _blame_for(check_result))

    async def _interact(self, case: Case) -> CaseVerdict:
        assert self._program is not None and self._checker is not None
        files = (File(INPUT, case.stdin or b""), File(ANSWER, _encode(case.expected)))
        outcomes = await self._slot.run_interactive(self._program, self._checker, args=(INPUT, OUTPUT, ANSWER), files=files)
        result = JobResult(self._program.compile, outcomes.first)
        for outcome in (outcomes.first, outcomes.second):
            if outcome.blame is Blame.platform:
                raise InconclusiveRun(outcome.message, result)
        checked, blame = interactive_result(outcomes, compiled=self._program.compile is not None)
        if checked.reason is Reason.not_judged and blame is Blame.platform:
            raise InconclusiveRun(checked.message, result)
        return case_verdict(case, result, checked, blame)


class FlakyRunGuard:
    """Decides, over several attempts at the same run, whether a result says anything about the program.

    A SIGKILLed run is repeated up to `times` before the kill counts as the program's own. A possibly starved run is repeated
    once.
    """

    def __init__(self, times: int) -> None:
        self._kills_left = times
        self._delays_left = min(times, 1)
        self.starved = False
        """Whether a run timed out while other processes took its CPU time. The next attempt may get more wall time."""

    def check(self, result: JobResult) -> None:
        """Raise InconclusiveRun if the result says nothing about the program."""
        if fault := platform_fault(result):
            raise InconclusiveRun(fault, result)
        if self._kills_left and maybe_killed(result):
            self._kills_left -= 1
            raise InconclusiveRun("the program was killed, possibly from outside", result)
        if self._delays_left and maybe_delayed(result):
            self._delays_left -= 1
            self.starved = maybe_starved(result)
            raise InconclusiveRun("the program timed out while it had less than its share of the CPU", result)


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


def _is_failed(case: CaseVerdict) -> bool:
    return not case.passed


def _blame_for(checked: CheckResult) -> Blame | None:
    return None if checked.passed else Blame.program


def _encode(text: str) -> bytes:
    return text.encode(errors="surrogatepass")
