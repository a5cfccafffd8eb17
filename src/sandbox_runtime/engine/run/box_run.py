"""One plan in one open box: stage, compile, run, fetch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sandbox_runtime.engine.run.prompted_input import PromptedInput
from sandbox_runtime.engine.run.step_limits import StepLimits
from sandbox_runtime.engine.threads import LARGE_BYTES, run_to_end
from sandbox_runtime.errors import PlatformFault
from sandbox_runtime.isolation.port import Box, Sink
from sandbox_runtime.languages import Language, Recipe
from sandbox_runtime.model import Build, Command, Ending, Job, JobResult, Limits, Outcome, Plan, Reply, Step
from sandbox_runtime.telemetry import Metrics
from sandbox_runtime.workspace import ChangedFiles, Quotas, collect_changes, fetch, link, resolve, stage

GRACE_S = 30.0
"""Extra time beyond the wall limit before a box that does not answer counts as a platform fault."""

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
        run = None if self.task.only_build or (compile_outcome is not None and not compile_outcome.ok) else await self._run()
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
        recipe, limits = self.task.language.run, self.task.job.run_limits
        limits = with_minimums(limits, recipe) if recipe.min_limits else limits
        return Command(self.plan.run.argv, stdin=self.task.job.stdin, env=dict(self.plan.run.env), limits=limits)

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
        outcome = await self._run_step(self.plan.compile, task.language.compile, "compile", task.job.compile_limits, None, None)
        if task.on_built is not None and outcome.ok:
            task.on_built(outcome, collect_changes(self.box, self.plan.files, self.plan.links, task.build_quotas or self.quotas))
        return outcome

    async def _run(self) -> Outcome:
        task = self.task
        return await self._run_step(self.plan.run, task.language.run, "run", task.job.run_limits, task.job.stdin, task.sink)

    async def _run_step(
        self, step: Step, recipe: Recipe, name: str, limits: Limits, stdin: bytes | None, sink: Sink | None
    ) -> Outcome:
        limits = with_minimums(limits, recipe) if recipe.min_limits else limits
        command = Command(step.argv, stdin=stdin, env=dict(step.env), limits=limits)
        reply = self.task.job.reply if name == "run" else None
        if recipe.max_concurrent:
            async with self.step_limits.acquire(self.task.language.name, name, recipe.max_concurrent):
                outcome = await self._run_command(command, sink, reply)
        else:
            outcome = await self._run_command(command, sink, reply)
        self.record_metrics(outcome, name)
        return outcome

    def record_metrics(self, outcome: Outcome, step: str = "run") -> None:
        """Count a finished command of this task."""
        self.metrics.record_command(self.task.language.name, step, outcome.ending, outcome.blame, outcome.usage.wall_s)

    async def _run_command(self, command: Command, sink: Sink | None, reply: Reply | None) -> Outcome:
        on_started = None
        if reply is not None:
            prompted = PromptedInput(reply, sink)
            sink, on_started = prompted.on_output, prompted.connect
        try:
            async with self.box.clock.timeout(command.limits.wall_s + GRACE_S):
                return await self.box.run(command, sink=sink, on_started=on_started)
        except TimeoutError as error:
            raise PlatformFault("the box did not answer in time") from error


def with_minimums(limits: Limits, recipe: Recipe) -> Limits:
    """Raise the limits that are too small for the toolchain itself."""
    raised = {name: least for name, least in recipe.min_limits if getattr(limits, name) < least}
    return limits.replace(**raised) if raised else limits
