"""One plan in one open box: stage, compile, run, fetch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sandbox_runtime.engine.run.command import run_command
from sandbox_runtime.engine.run.prompted_input import PromptedInput
from sandbox_runtime.engine.run.step_limits import StepLimits
from sandbox_runtime.engine.threads import LARGE_BYTES, run_to_end
from sandbox_runtime.isolation.port import Box, Sink
from sandbox_runtime.languages.language import Language, Recipe
from sandbox_runtime.model.build import Build
from sandbox_runtime.model.command import Command
from sandbox_runtime.model.job import Job, JobResult
from sandbox_runtime.model.limits import Limits
from sandbox_runtime.model.outcome import Ending, Outcome
from sandbox_runtime.model.plan import Plan, Step
from sandbox_runtime.telemetry.metrics import Metrics
from sandbox_runtime.workspace import fetch
from sandbox_runtime.workspace.area import Quotas, resolve
from sandbox_runtime.workspace.changed_files import ChangedFiles, collect_changes
from sandbox_runtime.workspace.staging import link, stage

OnBuilt = Callable[[Outcome, ChangedFiles], None]
"""Receives what a successful compile step left, before anything else starts in its box."""


@dataclass(frozen=True, slots=True)
class Task:
    """A job of a language, with how to run it."""

    language: Language
    job: Job
    link_flags: tuple[str, ...] = ()
    """Appended to the compile command."""
    sink: Sink | None = None
    """Receives the output of the run step."""
    build: Build | None = None
    """An earlier build: nothing is compiled."""
    on_built: OnBuilt | None = None
    build_quotas: Quotas | None = None
    """Bounds of what is read for `on_built`."""
    only_build: bool = False
    preset: str = ""
    """The warm interpreter, if the language has one; empty: the default."""
    args: tuple[str, ...] = ()
    """Further arguments of the run step."""
    no_retry: bool = False
    """Do not replace a broken box, because the caller retries itself."""
    plan: Plan | None = None
    """The plan, if it is known already."""


@dataclass(frozen=True, slots=True)
class BoxRun:
    box: Box
    task: Task
    plan: Plan
    quotas: Quotas
    metrics: Metrics
    step_limits: StepLimits

    async def perform(self) -> JobResult:
        """Run all steps. Names to fetch are checked first, so that an unanswerable request does not run."""
        fetch_names = self.task.job.fetch
        for name in fetch_names:
            resolve(self.box, name)
        if self.plan.refusal:
            return self._refusal()
        compile_outcome = await self.prepare()
        task, run = self.task, None
        if not task.only_build and (compile_outcome is None or compile_outcome.ok):
            run = await self._run_step("run", self.command(), task.language.run, task.sink)
        if not fetch_names:
            return JobResult(compile_outcome, run)
        fetched = await run_to_end(fetch, self.box, fetch_names, self.quotas)
        return JobResult(compile_outcome, run, fetched.files, fetched.skipped)

    async def prepare(self) -> Outcome | None:
        """Stage and compile: everything before the run step."""
        if sum(len(file.content) for file in self.plan.files) < LARGE_BYTES:
            self._stage()
        else:
            await run_to_end(self._stage)
        return await self._compile()

    def command(self) -> Command:
        """Return the command of the run step."""
        job = self.task.job
        return _command(self.plan.run, self.task.language.run, job.run_limits, job.stdin)

    def _refusal(self) -> JobResult:
        """Report the refusal as a failed first step."""
        refusal = Outcome(Ending.not_started, exit_code=1, message=self.plan.refusal, isolation=self.box.backend)
        return JobResult(refusal, None) if self.plan.compile else JobResult(None, refusal)

    def _stage(self) -> None:
        build = self.task.build
        stage(self.box, self.plan.files if build is None else (*self.plan.files, *build.files))
        if self.plan.links:
            link(self.box, self.plan.links)

    async def _compile(self) -> Outcome | None:
        task = self.task
        if task.build is not None:
            return task.build.outcome
        if self.plan.compile is None or task.language.compile is None:
            return None
        command = _command(self.plan.compile, task.language.compile, task.job.compile_limits, None)
        outcome = await self._run_step("compile", command, task.language.compile, None)
        if task.on_built is not None and outcome.ok:
            task.on_built(outcome, collect_changes(self.box, self.plan.files, self.plan.links, task.build_quotas or self.quotas))
        return outcome

    async def _run_step(self, name: str, command: Command, recipe: Recipe, sink: Sink | None) -> Outcome:
        on_started, reply = None, self.task.job.reply if name == "run" else None
        if reply is not None:
            prompted = PromptedInput(reply, sink)
            sink, on_started = prompted.on_output, prompted.connect
        if recipe.max_concurrent:
            async with self.step_limits.acquire(self.task.language.name, name, recipe.max_concurrent):
                outcome = await run_command(self.box, command, sink, on_started)
        else:
            outcome = await run_command(self.box, command, sink, on_started)
        self.record_metrics(outcome, name)
        return outcome

    def record_metrics(self, outcome: Outcome, step: str = "run") -> None:
        """Count a finished command of this task."""
        self.metrics.record_command(self.task.language.name, step, outcome.ending, outcome.blame, outcome.usage.wall_s)


def _command(step: Step, recipe: Recipe, limits: Limits, stdin: bytes | None) -> Command:
    limits = with_minimums(limits, recipe) if recipe.min_limits else limits
    return Command(step.argv, stdin=stdin, env=dict(step.env), limits=limits)


def with_minimums(limits: Limits, recipe: Recipe) -> Limits:
    """Raise the limits that are too small for the toolchain itself."""
    raised = {name: least for name, least in recipe.min_limits if getattr(limits, name) < least}
    return limits.replace(**raised) if raised else limits
