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
from sandbox_runtime.workspace import Collected, Quotas, collect, fetch, link, place, stage

GRACE_S = 30.0
"""How much longer than its wall limit we wait for a command whose box does not answer, before the fault is called ours."""

Keep = Callable[[Outcome, Collected], None]
"""Given what a compile step that succeeded left, before anything else is started in its box."""


@dataclass(frozen=True, slots=True)
class Task:
    """A job of a language. linked: flags at the end of its compile command; sink: given the output of the run step; build: made
    before, so that there is nothing to compile; keep: told of the build, of which no more than keep_quotas is read; only_build:
    nothing is run. preset: the warm interpreter to use where the language has one; empty: the usual. args: further arguments of
    the run step. once: a box that breaks is not replaced, because the caller tries again by itself."""

    language: Language
    job: Job
    linked: tuple[str, ...] = ()
    sink: Sink | None = None
    build: Build | None = None
    keep: Keep | None = None
    keep_quotas: Quotas | None = None
    only_build: bool = False
    preset: str = ""
    args: tuple[str, ...] = ()
    once: bool = False


@dataclass(frozen=True, slots=True)
class BoxRun:
    box: Box
    task: Task
    plan: Plan
    quotas: Quotas
    metrics: Metrics
    turns: StepLimits

    async def perform(self) -> JobResult:
        """The names to fetch are checked first: a request that cannot be answered is not run."""
        wanted = self.task.job.fetch
        for name in wanted:
            place(self.box, name)
        if self.plan.refused:
            return self._refused()
        compiled = await self.prepare()
        ran = None if self.task.only_build or (compiled is not None and not compiled.ok) else await self._run()
        if not wanted:
            return JobResult(compiled, ran)
        fetched = await run_to_end(fetch, self.box, wanted, self.quotas)
        return JobResult(compiled, ran, fetched.files, fetched.skipped)

    async def prepare(self) -> Outcome | None:
        """All up to the run step."""
        if sum(len(file.content) for file in self.plan.files) < LARGE_BYTES:
            self._stage()
        else:
            await run_to_end(self._stage)
        return await self._compile()

    def command(self) -> Command:
        """The run step, as it is started."""
        recipe, limits = self.task.language.run, self.task.job.run_limits
        limits = raised(limits, recipe) if recipe.at_least else limits
        return Command(self.plan.run.argv, stdin=self.task.job.stdin, env=dict(self.plan.run.env), limits=limits)

    def _refused(self) -> JobResult:
        """As the toolchain's own first step would have told it."""
        told = Outcome(Ending.not_started, exit_code=1, message=self.plan.refused, isolation=self.box.backend)
        return JobResult(told, None) if self.plan.compile else JobResult(None, told)

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
        outcome = await self._take(self.plan.compile, task.language.compile, "compile", task.job.compile_limits, None, None)
        if task.keep is not None and outcome.ok:
            task.keep(outcome, collect(self.box, self.plan.files, self.plan.links, task.keep_quotas or self.quotas))
        return outcome

    async def _run(self) -> Outcome:
        task = self.task
        return await self._take(self.plan.run, task.language.run, "run", task.job.run_limits, task.job.stdin, task.sink)

    async def _take(
        self, step: Step, recipe: Recipe, name: str, limits: Limits, stdin: bytes | None, sink: Sink | None
    ) -> Outcome:
        limits = raised(limits, recipe) if recipe.at_least else limits
        command = Command(step.argv, stdin=stdin, env=dict(step.env), limits=limits)
        reply = self.task.job.reply if name == "run" else None
        if recipe.together:
            async with self.turns.turn(self.task.language.name, name, recipe.together):
                outcome = await self._bounded(command, sink, reply)
        else:
            outcome = await self._bounded(command, sink, reply)
        self.told(outcome, name)
        return outcome

    def told(self, outcome: Outcome, step: str = "run") -> None:
        """Counts a command of this task that ended."""
        self.metrics.record_command(self.task.language.name, step, outcome.ending, outcome.blame, outcome.usage.wall_s)

    async def _bounded(self, command: Command, sink: Sink | None, reply: Reply | None) -> Outcome:
        begun = None
        if reply is not None:
            prompted = PromptedInput(reply, sink)
            sink, begun = prompted.hear, prompted.connect
        try:
            async with self.box.clock.timeout(command.limits.wall_s + GRACE_S):
                return await self.box.run(command, sink=sink, begun=begun)
        except TimeoutError as error:
            raise PlatformFault("the box did not answer in time") from error


def raised(limits: Limits, recipe: Recipe) -> Limits:
    """The limits with those lifted that are too small for the toolchain itself."""
    lifted = {name: least for name, least in recipe.at_least if getattr(limits, name) < least}
    return limits.replace(**lifted) if lifted else limits
