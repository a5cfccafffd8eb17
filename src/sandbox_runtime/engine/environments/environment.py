"""An environment: see the package. Each request gets one box; only what the request itself wrote stays in the workspace.

The source of an interpreted program lies in the workspace under a unique name while it runs. A compiled program lies there
under the names that its toolchain requires: these must be free, and they are removed together with what the compile step made,
by a command in the same box.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Mapping
from typing import Self

from sandbox_runtime.engine.contexts import Context
from sandbox_runtime.engine.environments import temp_files
from sandbox_runtime.engine.environments.planner import ProgramPlan, RunPlanner
from sandbox_runtime.engine.environments.request import RunRequest, RunResult
from sandbox_runtime.engine.environments.standby import BoxStandby
from sandbox_runtime.engine.handlers import run_call
from sandbox_runtime.engine.run.box_run import GRACE_S, BoxRun, Task
from sandbox_runtime.engine.terminals import Terminal
from sandbox_runtime.errors import PlatformFault, Unavailable
from sandbox_runtime.isolation.port import Box, Files, Sink
from sandbox_runtime.model import Build, Command, ExecutionKind, File, JobResult, Limits, Network, Outcome, Policy
from sandbox_runtime.workspace import stage

_SWEEP_LIMITS = Limits(wall_s=30.0)
_MAX_NAMES_PER_RM = 200
_PATH_WALL_S = 30.0
_STARTUP_VARIABLES = ("PYTHON", "LD_")


class Environment:
    """Created by open(). `files` gives access to the files from outside."""

    def __init__(self, planner: RunPlanner, files: Files, network: Network | None = None) -> None:
        self.files = files
        self._planner = planner
        self._network = network
        self._standby = BoxStandby(planner.backend, files, planner.standby_s)
        self._contexts: set[Context] = set()
        self._fixed_names_lock = asyncio.Lock()
        self.closed = False

    @classmethod
    async def open(cls, planner: RunPlanner, disk_bytes: int, disk_files: int, network: str = "") -> Self:
        """Open an environment.

        - network: "none" or "nat", for everything that runs here; empty: the default.

        Raises Unavailable if the backend has no persistent files or the server has no such network.
        """
        box_network = planner.network(network)
        return cls(planner, await planner.backend.open_files(disk_bytes, disk_files), box_network)

    def prepare(self) -> None:
        """Open a standby box for the first program."""
        self._standby.prepare(self._with_network(self._planner.default_policy))

    def used_bytes(self) -> int:
        """Return the current size of the files. Raises OSError if they are closed."""
        return self.files.usage()[0]

    @property
    def boxes_waiting(self) -> int:
        return int(self._standby.waiting)

    def check(self, request: RunRequest) -> None:
        """Raise the error that run() would raise before it starts anything."""
        if request.kind is ExecutionKind.command:
            self._planner.command(request)
        elif self._planner.is_handler_call(request):
            self._planner.handler_call(request)
        else:
            self._planner.program(request, self.files.workdir)

    async def run(self, request: RunRequest, sink: Sink | None = None) -> RunResult:
        if request.terminal is not None:
            return RunResult(await self._run_on_terminal(request, request.terminal, sink))
        if request.kind is ExecutionKind.command:
            return RunResult(await self.command(self._planner.command(request), sink))
        if self._planner.is_handler_call(request):
            return await self._call(request, sink)
        program = self._planner.program(request, self.files.workdir, await self._planner.link_flags(request))
        if not program.fixed_names:
            return await self._run_interpreted(program, request, sink)
        async with self._fixed_names_lock:
            return await self._build_and_run(program, sink)

    async def command(self, command: Command, sink: Sink | None = None, network: Network | None = None) -> Outcome:
        """Run a command. `network` replaces the environment's own."""
        policy = self._planner.command_policy(network)
        policy = policy if network is not None else self._with_network(policy)
        async with _BorrowedBox(self._standby, policy, prepare_next=network is None) as box:
            return await _run_command(box, command, sink)

    async def open_context(self, limits: Limits, env: Mapping[str, str], modules: tuple[str, ...] = ()) -> Context:
        """Start a live interpreter on these files, with these folders added to its module path. The caller must close_context()
        it."""
        box = await self._standby.take(self._with_network(self._planner.context_policy()))
        context = Context(box, limits, self._planner.keep_bytes)
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

    async def _run_on_terminal(self, request: RunRequest, terminal: Terminal, sink: Sink | None) -> Outcome:
        planner = self._planner
        async with _BorrowedBox(self._standby, self._with_network(planner.command_policy())) as box:
            return await terminal.run(box, planner.command(request), planner.paths.python, sink)

    async def _call(self, request: RunRequest, sink: Sink | None) -> RunResult:
        policy, made = self._planner.handler_call(request)
        async with _BorrowedBox(self._standby, self._with_network(policy)) as box:
            if request.filename:
                stage(box, [File(request.filename, request.code.encode(errors="surrogateescape"))])
            called = await run_call(box, made, sink)
        return RunResult(called.outcome, None, called.handler_result)

    async def _run_interpreted(self, program: ProgramPlan, request: RunRequest, sink: Sink | None) -> RunResult:
        """Run a program under a unique name. Links to toolchains are created unless the workspace has an entry of that name."""
        taken = temp_files.entry_names(self.files) if program.plan.links else frozenset()
        links = tuple(link for link in program.plan.links if link[0] not in taken)
        placed = [*([] if request.filename else [file.name for file in program.plan.files]), *(name for name, _ in links)]
        plan = dataclasses.replace(program.plan, links=links)
        async with _BorrowedBox(self._standby, self._with_network(program.policy)) as box:
            try:
                result = await self._perform(box, dataclasses.replace(program, plan=plan), sink)
            finally:
                if not self.closed:
                    temp_files.unlink(self.files, placed)
        return _run_result(result)

    async def _build_and_run(self, program: ProgramPlan, sink: Sink | None) -> RunResult:
        plan, workdir = program.plan, self.files.workdir
        before = temp_files.entry_names(self.files)
        staged = {
            temp_files.top_level_name(name, workdir) for name in (*(file.name for file in plan.files), *dict(plan.links))
        } - {""}
        temp_files.check_free(before, staged, program.language.title)
        policy = dataclasses.replace(program.policy, single_use=False)
        async with _BorrowedBox(self._standby, self._with_network(policy)) as box:
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
        planner = self._planner
        task = Task(program.language, program.job, (), sink, build, only_build=only_build)
        return await BoxRun(
            box, task, program.plan, planner.request_limits.quotas, planner.metrics, planner.step_limits
        ).perform()

    async def _sweep(self, box: Box, made: list[str]) -> None:
        """Remove files by a command in the box, which can do no more than the program itself. If the box is dead, the files
        stay."""
        for start in range(0, len(made), _MAX_NAMES_PER_RM):
            argv = ("/bin/rm", "-rf", "--", *(f"./{name}" for name in made[start : start + _MAX_NAMES_PER_RM]))
            try:
                await _run_command(box, Command(argv, limits=_SWEEP_LIMITS), None)
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


async def _run_command(box: Box, command: Command, sink: Sink | None) -> Outcome:
    try:
        async with box.clock.timeout(command.limits.wall_s + GRACE_S):
            return await box.run(command, sink=sink)
    except TimeoutError as error:
        raise PlatformFault("the box did not answer in time") from error
