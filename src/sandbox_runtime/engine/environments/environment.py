"""An environment: see the package. Each request gets one box; only what the request itself wrote stays in the workspace.

The source of an interpreted program lies in the workspace under a unique name while it runs. A compiled program lies there
under the names that its toolchain requires: these must be free, and they are removed together with what the compile step made,
by a command in the same box.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from sandbox_runtime.engine.contexts.context import Context
from sandbox_runtime.engine.environments import temp_files
from sandbox_runtime.engine.environments.standby import BoxStandby
from sandbox_runtime.engine.handlers.call import HandlerCall, run_call
from sandbox_runtime.engine.language_check import LanguageChecker
from sandbox_runtime.engine.run.box_run import Task
from sandbox_runtime.engine.run.command import run_command
from sandbox_runtime.engine.run.planner import PlannedRun, ProgramPlan, RunPlanner, with_link_flags
from sandbox_runtime.engine.run.request import RunRequest, RunResult
from sandbox_runtime.errors import PlatformFault, Unavailable
from sandbox_runtime.isolation.port import Backend, Box, Files, Sink
from sandbox_runtime.model.build import Build
from sandbox_runtime.model.command import Command
from sandbox_runtime.model.job import File, JobResult
from sandbox_runtime.model.limits import Limits
from sandbox_runtime.model.outcome import Outcome
from sandbox_runtime.model.policy import Network, Policy
from sandbox_runtime.workspace.staging import stage

_SWEEP_LIMITS = Limits(wall_s=30.0)
_MAX_NAMES_PER_RM = 200
_PATH_WALL_S = 30.0
_STARTUP_VARIABLES = ("PYTHON", "LD_")


@dataclass(frozen=True, slots=True)
class EnvironmentParts:
    """What environments work with."""

    backend: Backend
    planner: RunPlanner
    checker: LanguageChecker
    keep_bytes: int
    """How much is kept of each output stream of a cell."""
    standby_s: float = 60.0
    """How long a box waits for the next command."""


class Environment:
    """Created by open(). `files` gives access to the files from outside."""

    def __init__(self, parts: EnvironmentParts, files: Files, network: Network | None = None) -> None:
        self.files = files
        self._parts = parts
        self._planner = parts.planner
        self._network = network
        self._standby = BoxStandby(parts.backend, files, parts.standby_s)
        self._contexts: set[Context] = set()
        self._fixed_names_lock = asyncio.Lock()
        self.closed = False

    @classmethod
    async def open(cls, parts: EnvironmentParts, disk_bytes: int, disk_files: int, network: str = "") -> Self:
        """Open an environment.

        - network: "none" or "nat", for everything that runs here; empty: the default.

        Raises Unavailable if the backend has no persistent files or the server has no such network.
        """
        box_network = parts.planner.network(network)
        return cls(parts, await parts.backend.open_files(disk_bytes, disk_files), box_network)

    def prepare(self) -> None:
        """Open a standby box for the first program."""
        self._standby.prepare(self._with_network(self._planner.default_policy))

    def used_bytes(self) -> int:
        """Return the current size of the files. Raises OSError if they are closed."""
        return self.files.usage()[0]

    @property
    def boxes_waiting(self) -> int:
        return int(self._standby.waiting)

    def check(self, request: RunRequest) -> PlannedRun:
        """Return what run() takes. Raises if the request cannot run."""
        planned = self._planner.plan(request, self.files.workdir)
        return planned if self._network is None else dataclasses.replace(planned, policy=self._with_network(planned.policy))

    async def run(self, planned: PlannedRun, sink: Sink | None = None) -> RunResult:
        """Run a checked request."""
        work = planned.work
        if isinstance(work, HandlerCall):
            return await self._run_handler(planned, work, sink)
        if isinstance(work, Command):
            return RunResult(await self._run_command(planned, work, sink))
        program = await self._with_link_flags(planned.request, work)
        if not program.fixed_names:
            return await self._run_interpreted(planned, program, sink)
        async with self._fixed_names_lock:
            return await self._build_and_run(planned, program, sink)

    async def command(self, command: Command, sink: Sink | None = None, network: Network | None = None) -> Outcome:
        """Run a command. `network` replaces the environment's own."""
        policy = self._planner.command_policy(network)
        policy = policy if network is not None else self._with_network(policy)
        async with _BorrowedBox(self._standby, policy, prepare_next=network is None) as box:
            return await run_command(box, command, sink)

    async def open_context(self, limits: Limits, env: Mapping[str, str], modules: tuple[str, ...] = ()) -> Context:
        """Start a live interpreter on these files, with these folders added to its module path. The caller must close_context()
        it."""
        box = await self._standby.take(self._with_network(self._planner.context_policy()))
        context = Context(box, limits, self._parts.keep_bytes)
        self._contexts.add(context)
        try:
            await context.start(self._planner.paths.python, _without_startup_variables(env))
            if modules:
                await context.execute(f"__import__('sys').path.extend({list(modules)!r})", wall_s=_PATH_WALL_S)
        except BaseException:
            await self.close_context(context)
            raise
        return context

    async def close_context(self, context: Context) -> None:
        self._contexts.discard(context)
        try:
            await context.close()
        finally:
            self._standby.release(context.box)

    def check_pause(self) -> None:
        if self.files.no_pause:
            raise Unavailable(f"programs here cannot be paused: {self.files.no_pause}")

    async def pause(self) -> None:
        """Freeze everything that runs here; its clock stops too."""
        await self.files.pause()

    def resume(self) -> None:
        if not self.closed:
            self.files.resume()

    async def close(self) -> None:
        """Stop everything that runs here and delete the files. Idempotent."""
        if self.closed:
            return
        self.closed = True
        try:
            await asyncio.gather(*(self.close_context(context) for context in list(self._contexts)))
            await self._standby.close()
        finally:
            await self.files.close()

    def _with_network(self, policy: Policy) -> Policy:
        return policy if self._network is None else dataclasses.replace(policy, network=self._network)

    async def _with_link_flags(self, request: RunRequest, program: ProgramPlan) -> ProgramPlan:
        """Check the language before its first use, and add its link flags. The warm interpreter needs no check."""
        if program.language.warm:
            return program
        language = self._planner.catalog.find(request.language)
        return with_link_flags(program, await self._parts.checker.optional_link_flags(language))

    async def _run_command(self, planned: PlannedRun, command: Command, sink: Sink | None) -> Outcome:
        terminal = planned.request.terminal
        async with _BorrowedBox(self._standby, planned.policy) as box:
            if terminal is not None:
                return await terminal.run(box, command, self._planner.paths.python, sink)
            return await run_command(box, command, sink)

    async def _run_handler(self, planned: PlannedRun, call: HandlerCall, sink: Sink | None) -> RunResult:
        request = planned.request
        async with _BorrowedBox(self._standby, planned.policy) as box:
            if request.filename:
                stage(box, [File(request.filename, request.code.encode(errors="surrogateescape"))])
            result = await run_call(box, call, sink)
        return RunResult(result.outcome, None, result.handler_result)

    async def _run_interpreted(self, planned: PlannedRun, program: ProgramPlan, sink: Sink | None) -> RunResult:
        """Run a program under a unique name. Links to toolchains are created unless the workspace has an entry of that name."""
        taken = temp_files.entry_names(self.files) if program.plan.links else frozenset()
        links = tuple(link for link in program.plan.links if link[0] not in taken)
        sources = [] if planned.request.filename else [file.name for file in program.plan.files]
        placed = [*sources, *(name for name, _ in links)]
        plan = dataclasses.replace(program.plan, links=links)
        async with _BorrowedBox(self._standby, planned.policy) as box:
            try:
                result = await self._perform(box, dataclasses.replace(program, plan=plan), sink)
            finally:
                if not self.closed:
                    temp_files.unlink(self.files, placed)
        return _run_result(result)

    async def _build_and_run(self, planned: PlannedRun, program: ProgramPlan, sink: Sink | None) -> RunResult:
        plan, workdir = program.plan, self.files.workdir
        before = temp_files.entry_names(self.files)
        staged = {
            temp_files.top_level_name(name, workdir) for name in (*(file.name for file in plan.files), *dict(plan.links))
        } - {""}
        temp_files.check_free(before, staged, program.language.title)
        async with _BorrowedBox(self._standby, planned.policy) as box:
            made = frozenset(staged)
            try:
                built = await self._perform(box, program, None, only_build=True)
                made = temp_files.printable(temp_files.entry_names(self.files) - before) | staged
                if built.compile is not None and not built.compile.ok:
                    return RunResult(built.compile)
                without_links = dataclasses.replace(program, plan=dataclasses.replace(plan, links=()))
                build = Build(built.compile, ()) if built.compile is not None else None
                return _run_result(await self._perform(box, without_links, sink, build=build))
            finally:
                await self._sweep(box, sorted(made))

    async def _perform(
        self, box: Box, program: ProgramPlan, sink: Sink | None, *, build: Build | None = None, only_build: bool = False
    ) -> JobResult:
        task = Task(program.language, program.job, (), sink, build, only_build=only_build)
        return await self._planner.box_run(box, task, program.plan).perform()

    async def _sweep(self, box: Box, made: list[str]) -> None:
        """Remove files by a command in the box, which can do no more than the program itself. If the box is dead, the files
        stay."""
        for start in range(0, len(made), _MAX_NAMES_PER_RM):
            argv = ("/bin/rm", "-rf", "--", *(f"./{name}" for name in made[start : start + _MAX_NAMES_PER_RM]))
            try:
                await run_command(box, Command(argv, limits=_SWEEP_LIMITS))
            except (PlatformFault, Unavailable):
                return


class _BorrowedBox:
    """A box of this policy, closed on exit, with the next one of its kind being opened. `prepare_next`: whether the next
    request is likely to need one like it."""

    def __init__(self, standby: BoxStandby, policy: Policy, *, prepare_next: bool = True) -> None:
        self._standby = standby
        self._policy = policy
        self._prepare_next = prepare_next
        self._box: Box | None = None

    async def __aenter__(self) -> Box:
        self._box = await self._standby.take(self._policy)
        return self._box

    async def __aexit__(self, *_error: object) -> None:
        assert self._box is not None
        self._standby.release(self._box, self._policy if self._prepare_next else None)


def _without_startup_variables(env: Mapping[str, str]) -> dict[str, str]:
    """Drop variables that Python reads only at start-up: this interpreter is already running."""
    return {name: value for name, value in env.items() if not name.startswith(_STARTUP_VARIABLES)}


def _run_result(result: JobResult) -> RunResult:
    outcome = result.run or result.compile
    assert outcome is not None
    return RunResult(outcome, result.compile if result.run is not None else None)
