"""A slot of the admission, held over several steps: build once, then run the result any number of times.

The holder runs one thing at a time in its slot; run_each() uses more slots while no other request waits for them. Nothing here
enters the admission, so a holder never waits for another holder.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any

from sandbox_runtime.engine.admission import Admission
from sandbox_runtime.engine.build.coordinator import BuildCoordinator
from sandbox_runtime.engine.language_check import LanguageChecker
from sandbox_runtime.engine.run.box_run import Task
from sandbox_runtime.engine.run.case_scheduler import CaseScheduler, ResultT
from sandbox_runtime.engine.run.interactive import InteractiveResult, run_interactive
from sandbox_runtime.engine.run.planner import RunPlanner
from sandbox_runtime.engine.run.task_runner import TaskRunner
from sandbox_runtime.isolation.port import Sink
from sandbox_runtime.model.job import File, Job, JobResult
from sandbox_runtime.model.limits import Limits
from sandbox_runtime.model.outcome import Outcome


@dataclass(frozen=True, slots=True)
class BuiltProgram:
    """A job whose compile step is done. `compile` is None if the language has no compile step."""

    task: Task
    compile: Outcome | None

    @property
    def runnable(self) -> bool:
        return self.compile is None or self.compile.ok


@dataclass(frozen=True, slots=True)
class EngineParts:
    """What slots work with."""

    planner: RunPlanner
    runner: TaskRunner
    coordinator: BuildCoordinator
    checker: LanguageChecker
    admission: Admission


class EngineSlot:
    def __init__(self, parts: EngineParts, *, no_retry: bool = False) -> None:
        self._parts = parts
        self._no_retry = no_retry

    async def run(self, job: Job, *, preset: str = "", sink: Sink | None = None) -> JobResult:
        """Run a job in one box. `sink` receives the output of the run step. `preset` selects the warm interpreter, if the
        language has one."""
        return await self.run_task(self._parts.planner.task(job, preset=preset, sink=sink, no_retry=self._no_retry))

    async def run_task(self, task: Task) -> JobResult:
        """Run a checked job in one box."""
        task = await self._with_link_flags(task)
        return await (self._parts.runner.run(task) if task.language.compile is None else self._parts.coordinator.run(task))

    async def build(self, job: Job, *, preset: str = "") -> BuiltProgram:
        """Run the compile step of a job, if its language has one."""
        return await self.build_task(self._parts.planner.task(job, preset=preset, no_retry=self._no_retry))

    async def build_task(self, task: Task) -> BuiltProgram:
        task = await self._with_link_flags(task)
        built = await self._parts.coordinator.build(task)
        return BuiltProgram(built.with_build(task), built.compile)

    async def run_case(
        self,
        program: BuiltProgram,
        stdin: bytes | None,
        *,
        args: Sequence[str] = (),
        files: Sequence[File] = (),
        limits: Limits | None = None,
    ) -> JobResult:
        """Run a built program in its own box, with these arguments and files in addition to its job's. `limits` replaces the
        job's run limits."""
        task = self._case_task(program, stdin, args, files)
        if limits is not None:
            task = dataclasses.replace(task, job=dataclasses.replace(task.job, run_limits=limits))
            self._parts.planner.request_limits.check(task.job)
        return await self._parts.runner.run(task)

    async def run_interactive(
        self, first: BuiltProgram, second: BuiltProgram, *, args: Sequence[str] = (), files: Sequence[File] = ()
    ) -> InteractiveResult:
        """Run two programs concurrently, each reading what the other prints. `args` and `files` belong to the second."""
        runner = self._parts.runner
        return await run_interactive(runner, self._case_task(first, None, (), ()), self._case_task(second, None, args, files))

    async def run_each(
        self,
        count: int,
        run_case: Callable[[int], Coroutine[Any, Any, ResultT]],
        is_failure: Callable[[ResultT], bool],
        *,
        parallel: int,
        stop_early: bool,
    ) -> tuple[ResultT | None, ...]:
        """Call run_case(number) for each number in order. With `stop_early`, cases after the first failure have no result."""
        return await CaseScheduler(self._parts.admission, count, run_case, is_failure).run(parallel, stop_early)

    async def _with_link_flags(self, task: Task) -> Task:
        """Return the task with the link flags that work here. Raises Unavailable if its language does not work."""
        flags = await self._parts.checker.optional_link_flags(task.language)
        return dataclasses.replace(task, link_flags=flags) if flags else task

    def _case_task(self, program: BuiltProgram, stdin: bytes | None, args: Sequence[str], files: Sequence[File]) -> Task:
        limits = self._parts.planner.request_limits
        limits.check_inputs([stdin])
        limits.quotas.check(tuple(files))
        job = dataclasses.replace(program.task.job, stdin=stdin, files=(*program.task.job.files, *files))
        return dataclasses.replace(program.task, job=job, args=tuple(args))
