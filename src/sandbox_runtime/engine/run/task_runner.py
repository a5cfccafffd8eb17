"""Run tasks in boxes of the pool: retry once if the box breaks, close the box before returning."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from sandbox_runtime.engine.pools.box_pool import BoxPool
from sandbox_runtime.engine.pools.prestart import PrestartedBox, PrestartPool
from sandbox_runtime.engine.run.box_run import BoxRun, Task
from sandbox_runtime.engine.run.command import is_dead_on_arrival
from sandbox_runtime.engine.run.planner import RunPlanner
from sandbox_runtime.errors import PlatformFault
from sandbox_runtime.isolation.port import Box
from sandbox_runtime.languages.language import Language
from sandbox_runtime.languages.planner import Toolchain, version_step
from sandbox_runtime.model.command import Command
from sandbox_runtime.model.job import JobResult
from sandbox_runtime.model.limits import Limits
from sandbox_runtime.model.outcome import Blame, Outcome
from sandbox_runtime.model.policy import Policy
from sandbox_runtime.telemetry.logs import Log

ResultT = TypeVar("ResultT")


class TaskRunner:
    """Runs tasks. Without `prestart` no interpreter is started before a job arrives."""

    def __init__(self, pool: BoxPool, planner: RunPlanner, log: Log, prestart: PrestartPool | None = None) -> None:
        self._pool = pool
        self._planner = planner
        self._log = log
        self._prestart = prestart

    async def run(self, task: Task) -> JobResult:
        planner = self._planner
        return await self.use_box(
            planner.task_policy(task),
            lambda box: planner.box_run(box, task).perform(),
            _last_outcome,
            retry=not task.no_retry and task.sink is None,
            task=task if self._prestart is not None and task.language.prestart is not None else None,
        )

    async def use_box(
        self,
        policy: Policy,
        use: Callable[[Box], Awaitable[ResultT]],
        outcome_of: Callable[[ResultT], Outcome | None],
        *,
        retry: bool,
        task: Task | None = None,
    ) -> ResultT:
        """Use a box of the pool. A box that broke before it gave an outcome, or was dead on arrival, is replaced once: what ran
        in it is gone. The caller allows this with `retry` if no output can have been seen. `task`: take a prestarted box for it,
        if there is one."""
        result = await self._attempt(policy, use, outcome_of, task, last=not retry)
        if result is None:
            result = await self._attempt(policy, use, outcome_of, task, last=True)
        assert result is not None
        return result

    async def version(self, language: Language, limits: Limits) -> Outcome:
        """Run the version command of a language's toolchain."""
        policy, paths = self._planner.toolchain_policy(language), self._planner.paths
        box = await self._pool.take(policy)
        try:
            step = version_step(language, Toolchain(paths.python, box.workdir, toolchains=paths.toolchains))
            return await box.run(Command(step.argv, env=dict(step.env), limits=limits))
        finally:
            await self._pool.discard(policy, box)

    @asynccontextmanager
    async def open_box(self, task: Task) -> AsyncIterator[BoxRun]:
        """Open a box for a caller that starts the command itself. Closes it on exit."""
        policy = self._planner.task_policy(task)
        box = await self._pool.take(policy)
        try:
            yield self._planner.box_run(box, task)
        except PlatformFault as fault:
            self._on_broken_box(policy, str(fault))
            raise
        finally:
            await self._pool.discard(policy, box)

    def report_broken(self, task: Task, outcome: Outcome) -> None:
        """Report that the box of a task broke."""
        self._on_broken_box(self._planner.task_policy(task), outcome.message)

    async def _attempt(
        self,
        policy: Policy,
        use: Callable[[Box], Awaitable[ResultT]],
        outcome_of: Callable[[ResultT], Outcome | None],
        task: Task | None,
        *,
        last: bool,
    ) -> ResultT | None:
        """Return None if the box broke and another attempt should follow."""
        box = await (self._pool.take(policy) if task is None else self._take_prestarted(policy, task))
        try:
            result = await use(box)
        except PlatformFault as fault:
            self._on_broken_box(policy, str(fault))
            if last:
                raise
            return None
        finally:
            await (self._pool.discard(policy, box) if task is None else self._discard_prestarted(policy, task, box))
        outcome = outcome_of(result)
        if outcome is None or outcome.blame is not Blame.platform:
            return result
        self._on_broken_box(policy, outcome.message)
        # A program that did start in that moment could not reach anything outside its box.
        return None if not last and is_dead_on_arrival(outcome) and policy.network.mode == "none" else result

    async def _take_prestarted(self, policy: Policy, task: Task) -> Box:
        assert self._prestart is not None
        return await self._prestart.take(task.language, policy, task.job.run_limits) or await self._pool.take(policy)

    async def _discard_prestarted(self, policy: Policy, task: Task, box: Box) -> None:
        assert self._prestart is not None
        try:
            await (self._prestart.end(box) if isinstance(box, PrestartedBox) else self._pool.discard(policy, box))
        finally:
            self._prestart.refill(task.language)

    def _on_broken_box(self, policy: Policy, reason: str) -> None:
        self._pool.drop_idle(policy)
        self._log.warning("a box broke", preset=policy.preset, reason=reason)


def _last_outcome(result: JobResult) -> Outcome | None:
    return result.run or result.compile
