"""One plan in one open box: stage, compile, run, fetch."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from sandbox_runtime.errors import PlatformFault
from sandbox_runtime.isolation.port import Box, Sink
from sandbox_runtime.languages import Language, Recipe
from sandbox_runtime.model import Command, Ending, Job, JobResult, Limits, Outcome, Plan, Step
from sandbox_runtime.telemetry import Metrics
from sandbox_runtime.workspace import Quotas, fetch, link, place, stage

GRACE_S = 30.0
"""How much longer than its wall limit we wait for a command whose box does not answer, before the fault is called ours."""


@dataclass(frozen=True, slots=True)
class BoxedRun:
    box: Box
    language: Language
    plan: Plan
    job: Job
    quotas: Quotas
    metrics: Metrics
    sink: Sink | None = None

    async def perform(self) -> JobResult:
        """The names to fetch are checked first: a request that cannot be answered is not run."""
        for name in self.job.fetch:
            place(self.box, name)
        if self.plan.refused:
            return self._refused()
        stage(self.box, self.plan.files)
        link(self.box, self.plan.links)
        compiled = await self._compile()
        ran = await self._run() if compiled is None or compiled.ok else None
        if not self.job.fetch:
            return JobResult(compiled, ran)
        fetched = fetch(self.box, self.job.fetch, self.quotas)
        return JobResult(compiled, ran, fetched.files, fetched.skipped)

    def _refused(self) -> JobResult:
        """As the toolchain's own first step would have told it."""
        told = Outcome(Ending.not_started, exit_code=1, message=self.plan.refused, isolation=self.box.backend)
        return JobResult(told, None) if self.plan.compile else JobResult(None, told)

    async def _compile(self) -> Outcome | None:
        if self.plan.compile is None or self.language.compile is None:
            return None
        return await self._take(self.plan.compile, self.language.compile, "compile", self.job.compile_limits, None, None)

    async def _run(self) -> Outcome:
        return await self._take(self.plan.run, self.language.run, "run", self.job.run_limits, self.job.stdin, self.sink)

    async def _take(
        self, step: Step, recipe: Recipe, name: str, limits: Limits, stdin: bytes | None, sink: Sink | None
    ) -> Outcome:
        limits = raised(limits, recipe) if recipe.at_least else limits
        command = Command(step.argv, stdin=stdin, env=dict(step.env), limits=limits)
        try:
            async with asyncio.timeout(limits.wall_s + GRACE_S):
                outcome = await self.box.run(command, sink=sink)
        except TimeoutError as error:
            raise PlatformFault("the box did not answer in time") from error
        self.metrics.command_ended(self.language.name, name, outcome.ending, outcome.blame, outcome.usage.wall_s)
        return outcome


def raised(limits: Limits, recipe: Recipe) -> Limits:
    """The limits with those lifted that are too small for the toolchain itself."""
    lifted = {name: least for name, least in recipe.at_least if getattr(limits, name) < least}
    return limits.replace(**lifted) if lifted else limits
