"""Run a task in a box of the pool: choose the policy, retry once if the box breaks, close the box before returning."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from sandbox_runtime.engine.pools.box_pool import BoxPool
from sandbox_runtime.engine.pools.prestart import PrestartedBox, PrestartPool
from sandbox_runtime.engine.run.box_run import BoxRun, Task
from sandbox_runtime.engine.run.step_limits import StepLimits
from sandbox_runtime.errors import PlatformFault
from sandbox_runtime.isolation.port import Box
from sandbox_runtime.languages import Language, Toolchain, plan, version_step
from sandbox_runtime.model import Blame, Command, JobResult, Limits, Outcome, Plan, Policy
from sandbox_runtime.telemetry import Log, Metrics
from sandbox_runtime.workspace import Quotas

DEAD_ON_ARRIVAL_S = 0.1
STD = "std"


@dataclasses.dataclass(frozen=True, slots=True)
class GuestPaths:
    """Where guest programs find what they need."""

    python: str
    """The guest's interpreter."""
    preset: str
    """The modules that warm languages find loaded."""
    toolchains: str
    """Folder of installed toolchains."""
    policies: Mapping[str, Policy]
    """The policy of each preset."""


class TaskRunner:
    """Runs tasks. Without `prestart` no interpreter is started before a job arrives."""

    def __init__(
        self,
        pool: BoxPool,
        paths: GuestPaths,
        quotas: Quotas,
        step_limits: StepLimits,
        metrics: Metrics,
        log: Log,
        ahead: PrestartPool | None = None,
    ) -> None:
        self._pool = pool
        self._prestart = ahead
        self._paths = paths
        self._quotas = quotas
        self._step_limits = step_limits
        self._metrics = metrics
        self._log = log

    async def run(self, task: Task) -> JobResult:
        """Run a task. A box that broke before it gave an outcome is replaced once: what ran in it is gone. Not if the caller
        may have seen output."""
        policy = self._policy(task)
        result = await self._attempt(policy, task, last=task.no_retry or task.sink is not None)
        if result is None:
            result = await self._attempt(policy, task, last=True)
        assert result is not None
        return result

    async def version(self, language: Language, limits: Limits) -> Outcome:
        """Run the version command of a language's toolchain."""
        policy = dataclasses.replace(self._paths.policies[STD], toolchains=language.toolchain, gpu=language.gpu)
        box = await self._pool.take(policy)
        try:
            step = version_step(language, Toolchain(self._paths.python, box.workdir, toolchains=self._paths.toolchains))
            return await box.run(Command(step.argv, env=dict(step.env), limits=limits))
        finally:
            await self._pool.discard(policy, box)

    def is_hermetic(self, task: Task) -> bool:
        """Whether the task depends only on staged files and installed software."""
        return self._policy(task).network.mode == "none"

    def plan(self, task: Task, workdir: str) -> Plan:
        paths, preset = self._paths, task.preset or self._paths.preset
        made = plan(task.language, task.job, Toolchain(paths.python, workdir, preset, task.link_flags, paths.toolchains))
        if not task.args:
            return made
        return dataclasses.replace(made, run=dataclasses.replace(made.run, argv=(*made.run.argv, *task.args)))

    @asynccontextmanager
    async def open_box(self, task: Task) -> AsyncIterator[BoxRun]:
        """Open a box for a caller that starts the command itself. Closes it on exit."""
        policy = self._policy(task)
        box = await self._pool.take(policy)
        try:
            yield self._box_run(box, task)
        except PlatformFault as fault:
            self._on_broken_box(policy, str(fault))
            raise
        finally:
            await self._pool.discard(policy, box)

    def drop_idle(self, task: Task, outcome: Outcome) -> None:
        """Report that the box of a task broke."""
        self._on_broken_box(self._policy(task), outcome.message)

    async def _attempt(self, policy: Policy, task: Task, *, last: bool) -> JobResult | None:
        """Return None if the box broke and another attempt should follow."""
        box = await self._take_box(policy, task)
        try:
            result = await self._box_run(box, task).perform()
        except PlatformFault as fault:
            self._on_broken_box(policy, str(fault))
            if last:
                raise
            return None
        finally:
            await self._discard_box(policy, task, box)
        ended = result.run or result.compile
        if ended is None or ended.blame is not Blame.platform:
            return result
        self._on_broken_box(policy, ended.message)
        return None if not last and _dead_on_arrival(ended, policy) else result

    async def _take_box(self, policy: Policy, task: Task) -> Box:
        if self._prestart is not None and task.language.prestart is not None:
            prestarted = await self._prestart.take(task.language, policy, task.job.run_limits)
            if prestarted is not None:
                return prestarted
        return await self._pool.take(policy)

    async def _discard_box(self, policy: Policy, task: Task, box: Box) -> None:
        if self._prestart is None or task.language.prestart is None:
            await self._pool.discard(policy, box)
            return
        try:
            await (self._prestart.end(box) if isinstance(box, PrestartedBox) else self._pool.discard(policy, box))
        finally:
            self._prestart.refill(task.language)

    def _box_run(self, box: Box, task: Task) -> BoxRun:
        return BoxRun(box, task, self.plan(task, box.workdir), self._quotas, self._metrics, self._step_limits)

    def _on_broken_box(self, policy: Policy, reason: str) -> None:
        self._pool.drop_idle(policy)
        self._log.warning("a box broke", preset=policy.preset, reason=reason)

    def _policy(self, task: Task) -> Policy:
        """Return the policy. A task with a build needs a single command, like a language without a compile step."""
        language = task.language
        policy = self._paths.policies[(task.preset or self._paths.preset) if language.warm else STD]
        two_commands = language.compile is not None and task.build is None and not task.only_build
        if two_commands or language.toolchain or language.gpu:
            policy = dataclasses.replace(policy, single_use=not two_commands, toolchains=language.toolchain, gpu=language.gpu)
        limits = task.job.run_limits
        if (limits.disk_bytes, limits.disk_files) == (policy.disk_bytes, policy.disk_files):
            return policy
        return dataclasses.replace(policy, disk_bytes=limits.disk_bytes, disk_files=limits.disk_files)


def _dead_on_arrival(outcome: Outcome, policy: Policy) -> bool:
    """Whether the box was dead before it got its command, as prepared boxes are after their spawner dies. This shows at once. A
    program that did start in that moment could not reach anything outside its box."""
    return outcome.usage.wall_s < DEAD_ON_ARRIVAL_S and policy.network.mode == "none"
