"""Jobs of languages that compile: what was built before is not built again, and one build serves many inputs.

The way of such a job: work out its key, look for the build; where there is one, lay it over the staged files in a box for one
command and run. Otherwise compile and run in one box, and keep what the compile step left once the answer is there. While a
build is under way, others who need the same wait for it instead of making it as well, no longer than their own compile step
might take; where nothing came of it, each makes its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sandbox_runtime.engine.build import BuildCache
from sandbox_runtime.engine.run.box_run import Task, raised
from sandbox_runtime.engine.run.task_runner import TaskRunner
from sandbox_runtime.languages import Language
from sandbox_runtime.model import Build, JobResult, Limits, Outcome
from sandbox_runtime.workspace import Collected, Quotas

_MOST_FILES = 4096


class _InFlightBuild:
    """A build under way. build: what came of it, known as soon as the compile step has ended; None also where not all that it
    left could be collected."""

    def __init__(self) -> None:
        self.build: Build | None = None
        self._over: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def take(self, outcome: Outcome, collected: Collected) -> None:
        self.build = None if collected.unfit else Build(outcome, collected.files)
        self.end()

    def end(self) -> None:
        if not self._over.done():
            self._over.set_result(None)

    async def shared(self, within_s: float) -> Build | None:
        """For those who wait for it: to them it was made before."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                await asyncio.shield(self._over)
        return self.build and Build(dataclasses.replace(self.build.outcome, cached=True), self.build.files)


@dataclass(frozen=True, slots=True)
class BuildResult:
    """A job with its compile step behind it. build None where the step failed, where there is none, or where what it left
    cannot be laid into another box."""

    compile: Outcome | None
    build: Build | None

    @property
    def runnable(self) -> bool:
        return self.compile is None or self.compile.ok

    def ready(self, task: Task) -> Task:
        return task if self.build is None else dataclasses.replace(task, build=self.build)


class BuildCoordinator:
    """builds None: nothing is kept between jobs. version: what the toolchain of a language says of itself."""

    def __init__(
        self, runner: TaskRunner, builds: BuildCache | None, most_bytes: int, version: Callable[[Language], str]
    ) -> None:
        self._runner = runner
        self._builds = builds
        self._most_bytes = most_bytes
        self._version = version
        self._under_way: dict[str, _InFlightBuild] = {}

    async def run(self, task: Task) -> JobResult:
        key = self._key(task)
        if key is None or self._builds is None:
            return await self._runner.run(task)
        build = await self._find(self._builds, key, task)
        if build is not None:
            return await self._runner.run(dataclasses.replace(task, build=build))
        with self._making(key) as made:
            result = await self._runner.run(dataclasses.replace(task, keep=made.take, keep_quotas=self._builds.quotas))
            await self._keep(key, made)
        return result

    async def build(self, task: Task) -> BuildResult:
        """The compile step alone, from the cache or in a box of its own."""
        if task.language.compile is None:
            return BuildResult(None, None)
        key = self._key(task)
        if key is not None and self._builds is not None and (found := await self._find(self._builds, key, task)) is not None:
            return BuildResult(found.outcome, found)
        with self._making(key) as made:
            quotas = Quotas(_MOST_FILES, self._most_bytes, self._most_bytes)
            result = await self._runner.run(dataclasses.replace(task, keep=made.take, keep_quotas=quotas, only_build=True))
            await self._keep(key, made)
        return BuildResult(result.compile, made.build)

    async def _find(self, builds: BuildCache, key: str, task: Task) -> Build | None:
        if (build := await builds.find(key)) is not None:
            return build
        making = self._under_way.get(key)
        return await making.shared(task.job.compile_limits.wall_s) if making else None

    @contextlib.contextmanager
    def _making(self, key: str | None) -> Iterator[_InFlightBuild]:
        made = _InFlightBuild()
        if key is not None:
            self._under_way.setdefault(key, made)
        try:
            yield made
        finally:
            made.end()
            if key is not None and self._under_way.get(key) is made:
                del self._under_way[key]

    async def _keep(self, key: str | None, made: _InFlightBuild) -> None:
        if key is not None and self._builds is not None and made.build is not None:
            await self._builds.keep(key, made.build)

    def _key(self, task: Task) -> str | None:
        recipe = task.language.compile
        if self._builds is None or recipe is None or not self._runner.sealed(task):
            return None
        made = self._runner.plan(task, self._builds.workdir)
        if made.refused:
            return None
        return self._builds.key(task.language, made, raised(_effective(task), recipe), self._version(task.language))


def _effective(task: Task) -> Limits:
    """The limits of the compile step; those of the disk are the box's, which is opened for the run."""
    ours, box = task.job.compile_limits, task.job.run_limits
    if (ours.disk_bytes, ours.disk_files) == (box.disk_bytes, box.disk_files):
        return ours
    return ours.replace(disk_bytes=box.disk_bytes, disk_files=box.disk_files)
