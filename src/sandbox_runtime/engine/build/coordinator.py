"""Jobs of compiled languages: reuse earlier builds, and build once for many inputs.

A job computes its key and looks for the build. If it exists, its files are laid over the staged files in a single-command box
and run. Otherwise the job compiles and runs in one box, and the build is stored when the result is known. While a build is in
flight, other jobs that need the same one wait for it, at most as long as their own compile step may take. If it fails, each
builds its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sandbox_runtime.engine.build.cache import BuildCache
from sandbox_runtime.engine.run.box_run import Task, with_minimums
from sandbox_runtime.engine.run.planner import RunPlanner
from sandbox_runtime.engine.run.task_runner import TaskRunner
from sandbox_runtime.languages.language import Language
from sandbox_runtime.model.build import Build
from sandbox_runtime.model.job import JobResult
from sandbox_runtime.model.limits import Limits
from sandbox_runtime.model.outcome import Outcome
from sandbox_runtime.model.plan import Plan
from sandbox_runtime.workspace.area import Quotas
from sandbox_runtime.workspace.changed_files import ChangedFiles

_MAX_FILES = 4096


class _InFlightBuild:
    """A build in progress. `build` is set as soon as the compile step ends; None if it failed or not everything it left could
    be collected."""

    def __init__(self) -> None:
        self.build: Build | None = None
        self._finished: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def complete(self, outcome: Outcome, collected: ChangedFiles) -> None:
        self.build = None if collected.rejection else Build(outcome, collected.files)
        self.finish()

    def finish(self) -> None:
        if not self._finished.done():
            self._finished.set_result(None)

    async def wait(self, within_s: float) -> Build | None:
        """Wait for the build and return it marked as cached, or None."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                await asyncio.shield(self._finished)
        return self.build and Build(dataclasses.replace(self.build.outcome, cached=True), self.build.files)


@dataclass(frozen=True, slots=True)
class BuildResult:
    """A finished compile step. `build` is None if the step failed, if there is none, or if its files cannot be moved to another
    box."""

    compile: Outcome | None
    build: Build | None

    @property
    def runnable(self) -> bool:
        return self.compile is None or self.compile.ok

    def with_build(self, task: Task) -> Task:
        return task if self.build is None else dataclasses.replace(task, build=self.build)


class BuildCoordinator:
    """Coordinates builds.

    - cache: None keeps nothing between jobs.
    - version: returns the version of a language's toolchain.
    """

    def __init__(
        self, runner: TaskRunner, planner: RunPlanner, cache: BuildCache | None, version: Callable[[Language], str]
    ) -> None:
        self._runner = runner
        self._planner = planner
        self._cache = cache
        self._version = version
        self._in_flight: dict[str, _InFlightBuild] = {}

    async def run(self, task: Task) -> JobResult:
        key, plan = self._key(task)
        if key is None or self._cache is None:
            return await self._runner.run(task)
        build = await self._find(self._cache, key, task)
        if build is not None:
            return await self._runner.run(dataclasses.replace(task, build=build, plan=plan))
        with self._start_build(key) as in_flight:
            task = dataclasses.replace(task, on_built=in_flight.complete, build_quotas=self._cache.quotas, plan=plan)
            result = await self._runner.run(task)
            await self._store(key, in_flight)
        return result

    async def build(self, task: Task) -> BuildResult:
        """Run only the compile step, from the cache or in its own box."""
        if task.language.compile is None:
            return BuildResult(None, None)
        key, plan = self._key(task)
        if key is not None and self._cache is not None and (build := await self._find(self._cache, key, task)) is not None:
            return BuildResult(build.outcome, build)
        with self._start_build(key) as in_flight:
            max_bytes = self._planner.request_limits.quotas.max_total_bytes
            quotas = Quotas(_MAX_FILES, max_bytes, max_bytes)
            task = dataclasses.replace(task, on_built=in_flight.complete, build_quotas=quotas, only_build=True, plan=plan)
            result = await self._runner.run(task)
            await self._store(key, in_flight)
        return BuildResult(result.compile, in_flight.build)

    async def _find(self, cache: BuildCache, key: str, task: Task) -> Build | None:
        if (build := await cache.find(key)) is not None:
            return build
        in_flight = self._in_flight.get(key)
        return await in_flight.wait(task.job.compile_limits.wall_s) if in_flight else None

    @contextlib.contextmanager
    def _start_build(self, key: str | None) -> Iterator[_InFlightBuild]:
        in_flight = _InFlightBuild()
        if key is not None:
            self._in_flight.setdefault(key, in_flight)
        try:
            yield in_flight
        finally:
            in_flight.finish()
            if key is not None and self._in_flight.get(key) is in_flight:
                del self._in_flight[key]

    async def _store(self, key: str | None, in_flight: _InFlightBuild) -> None:
        if key is not None and self._cache is not None and in_flight.build is not None:
            await self._cache.keep(key, in_flight.build)

    def _key(self, task: Task) -> tuple[str | None, Plan | None]:
        """Return the key of the task's build, None if it is not cached, and the plan that was made for it."""
        recipe = task.language.compile
        if self._cache is None or recipe is None or not self._planner.is_hermetic(task):
            return None, None
        plan = self._planner.task_plan(task, self._cache.workdir)
        if plan.refusal:
            return None, plan
        limits = with_minimums(_compile_limits(task), recipe)
        return self._cache.key(task.language, plan, limits, self._version(task.language)), plan


def _compile_limits(task: Task) -> Limits:
    """Return the limits of the compile step. Disk limits are the box's, which is opened for the run."""
    limits, box = task.job.compile_limits, task.job.run_limits
    if (limits.disk_bytes, limits.disk_files) == (box.disk_bytes, box.disk_files):
        return limits
    return limits.replace(disk_bytes=box.disk_bytes, disk_files=box.disk_files)
