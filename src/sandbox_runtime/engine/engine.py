"""The engine: takes a job, returns a result.

A run finds the language, checks bounds, waits for a slot, takes a box from the pool, stages, compiles, runs, fetches, closes
the box and releases the slot. This path starts no thread and no task, and logs only failures. Languages that compile go through
the build cache.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Self

from sandbox_runtime.engine.admission import Admission
from sandbox_runtime.engine.build.cache import BuildCache
from sandbox_runtime.engine.build.coordinator import BuildCoordinator
from sandbox_runtime.engine.invocations import Invocations
from sandbox_runtime.engine.language_check import LanguageChecker, LanguageStatus, StatusCache
from sandbox_runtime.engine.run.box_run import Task
from sandbox_runtime.engine.run.case_scheduler import OutputBudget
from sandbox_runtime.engine.run.planner import RunPlanner
from sandbox_runtime.engine.run.task_runner import TaskRunner
from sandbox_runtime.engine.slot import EngineParts, EngineSlot
from sandbox_runtime.errors import InvalidRequest, PlatformFault, SandboxError, Unavailable
from sandbox_runtime.isolation.port import Sink
from sandbox_runtime.languages.language import Language
from sandbox_runtime.model.build import MultiRunResult
from sandbox_runtime.model.job import Job, JobResult
from sandbox_runtime.model.outcome import Outcome
from sandbox_runtime.telemetry.logs import Log

PARALLEL = 4
"""Default number of inputs of one job that run concurrently."""


class Engine:
    """Runs jobs.

    - builds: cache of compiled programs; None keeps nothing between jobs.
    - check_cache: language checks that passed before this start.
    - check_in_background: check all languages after start-up.
    """

    def __init__(
        self,
        *,
        planner: RunPlanner,
        runner: TaskRunner,
        admission: Admission,
        builds: BuildCache | None,
        log: Log,
        check_cache: StatusCache | None = None,
        check_in_background: bool = True,
    ) -> None:
        self._runner = runner
        self._admission = admission
        self._planner = planner
        self._log = log
        self.checker = LanguageChecker(self._run_check, self._version, planner.request_limits.for_checks(), check_cache)
        coordinator = BuildCoordinator(runner, planner, builds, self._cached_version)
        self._parts = EngineParts(planner, runner, coordinator, self.checker, admission)
        self.invocations = Invocations(runner, admission, planner)
        self._check_in_background = check_in_background
        self._check_task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        if self._check_in_background:
            self._check_task = asyncio.create_task(self._check_all())
        return self

    async def __aexit__(self, *_error: object) -> None:
        if self._check_task:
            self._check_task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._check_task

    @asynccontextmanager
    async def slot(self, *, no_retry: bool = False) -> AsyncIterator[EngineSlot]:
        """Hold a slot for several steps, such as a build and many runs. Raises TooMany if none becomes free in time. With
        `no_retry` a broken box is not replaced, because the caller retries itself."""
        entered = await self._admission.enter()
        try:
            yield EngineSlot(self._parts, no_retry=no_retry)
        finally:
            self._admission.leave(entered)

    async def run(self, job: Job, *, sink: Sink | None = None) -> JobResult:
        """Run a job. `sink` receives the output of the run step while it runs, in addition to the result."""
        task = self._planner.task(job, sink=sink)
        async with self.slot() as slot:
            return await slot.run_task(task)

    async def run_many(
        self, job: Job, stdins: Sequence[bytes | None], *, stop_at_first_failure: bool = False, parallel: int = PARALLEL
    ) -> MultiRunResult:
        """Compile once, then run each input in a fresh box with the job's run limits. The job's own stdin is not used, and it
        must not fetch files. At most `parallel` inputs run concurrently, fewer while other requests wait."""
        task = self._planner.task(job)
        self._check_many(job, stdins, parallel)
        budget = OutputBudget(self._planner.request_limits.quotas.max_total_bytes)
        async with self.slot() as slot:
            program = await slot.build_task(task)
            if not program.runnable:
                return MultiRunResult(program.compile, (None,) * len(stdins))

            async def run_case(number: int) -> Outcome:
                result = await slot.run_case(program, stdins[number])
                return budget.trim(_outcome(result))

            runs = await slot.run_each(len(stdins), run_case, _failed, parallel=parallel, stop_early=stop_at_first_failure)
            return MultiRunResult(program.compile, runs)

    def _check_many(self, job: Job, stdins: Sequence[bytes | None], parallel: int) -> None:
        self._planner.request_limits.check_inputs(stdins)
        if job.fetch:
            raise InvalidRequest("a job with many inputs cannot fetch files: run it with one input at a time")
        if parallel < 1:
            raise InvalidRequest(f"parallel must be at least 1, not {parallel}")

    async def languages(
        self, names: Sequence[str] = (), within_s: float | None = None, *, fresh: bool = False
    ) -> tuple[LanguageStatus, ...]:
        """Return the status of these languages, or of the whole catalog. Languages whose check does not finish within
        `within_s` are pending. `fresh` ignores earlier results."""
        asked = [self._planner.catalog.find(name) for name in names] if names else self._planner.catalog
        return await self.checker.check_all(asked, within_s, fresh=fresh)

    async def optional_link_flags(self, language: Language) -> tuple[str, ...]:
        """Return the optional link flags that work on this host. Raises Unavailable, with the reason, if the language does not
        work."""
        return await self.checker.optional_link_flags(language)

    async def version(self, name: str) -> str:
        """Return the first line of the toolchain's version output. Raises Unavailable if there is none."""
        return await self._version(self._planner.catalog.find(name))

    async def _version(self, language: Language) -> str:
        outcome = await self._runner.version(language, self._planner.request_limits.for_checks())
        lines = (outcome.stdout.text + outcome.stderr.text).strip().splitlines()
        if not outcome.ok or not lines:
            raise Unavailable(
                f"{language.title} prints no version: {outcome.message or outcome.ending}. It needs {language.needs}"
            )
        return lines[0]

    def _cached_version(self, language: Language) -> str:
        status = self.checker.cached(language)
        return status.version if status else ""

    async def _run_check(self, language: Language, job: Job, optional_link_flags: tuple[str, ...]) -> JobResult:
        """Run a check. Checks never use the build cache: they must show what this host can do now."""
        return await self._runner.run(Task(language, job, optional_link_flags))

    async def _check_all(self) -> None:
        """Check all languages, so that the first request of a language does not wait for its check."""
        for language in self._planner.catalog:
            try:
                status = await self.checker.check(language)
            except SandboxError as error:
                self._log.warning("a language could not be checked", language=language.name, reason=str(error))
                continue
            if not status.enabled:
                self._log.info("a language is not available", language=language.name, reason=status.reason)


def _outcome(result: JobResult) -> Outcome:
    outcome = result.run or result.compile
    if outcome is None:
        raise PlatformFault("a run gave no outcome")
    return outcome


def _failed(outcome: Outcome) -> bool:
    return not outcome.ok
