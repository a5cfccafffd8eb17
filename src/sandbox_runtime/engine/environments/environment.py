"""A home: see the package. One box for each work; what is left in the workspace is what the work itself wrote.

A program of an interpreted language lies in the workspace under a name of its own while it runs. One that is compiled lies there
under the names that its toolchain wants: those must be free, and what the compile step made goes with them, swept away by a
command in the same box.
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
from sandbox_runtime.engine.environments.standby import Standby
from sandbox_runtime.engine.handlers import call
from sandbox_runtime.engine.run.box_run import GRACE_S, BoxRun, Task
from sandbox_runtime.engine.terminals import Terminal
from sandbox_runtime.errors import PlatformFault, Unavailable
from sandbox_runtime.isolation.port import Box, Files, Sink
from sandbox_runtime.model import Build, Command, ExecutionKind, File, JobResult, Limits, Network, Outcome, Policy
from sandbox_runtime.workspace import stage

_SWEEP_LIMITS = Limits(wall_s=30.0)
_NAMES_AT_ONCE = 200
_MODULES_WITHIN_S = 30.0
_READ_WHEN_STARTED = ("PYTHON", "LD_")


class Environment:
    """Made by open(). files: for whoever looks at them from outside."""

    def __init__(self, workshop: RunPlanner, files: Files, network: Network | None = None) -> None:
        self.files = files
        self._workshop = workshop
        self._network = network
        self._standby = Standby(workshop.backend, files, workshop.standby_s)
        self._contexts: set[Context] = set()
        self._own_names = asyncio.Lock()
        self.closed = False

    @classmethod
    async def open(cls, workshop: RunPlanner, disk_bytes: int, disk_files: int, network: str = "") -> Self:
        """network: none or nat, for everything that runs here; empty: as programs have it elsewhere. Raises Unavailable where the
        backend has no files that outlive a box, or this server no such network."""
        given = workshop.network(network)
        return cls(workshop, await workshop.backend.open_files(disk_bytes, disk_files), given)

    def prepare(self) -> None:
        """Have a box stand by for the first program."""
        self._standby.prepare(self._on_network(self._workshop.usual_policy))

    def used_bytes(self) -> int:
        """What the files take now. Raises OSError where they are closed."""
        return self.files.usage()[0]

    @property
    def boxes_waiting(self) -> int:
        return int(self._standby.waiting)

    def check(self, work: RunRequest) -> None:
        """Raises what can be said against it before it is run."""
        if work.kind is ExecutionKind.command:
            self._workshop.command(work)
        elif self._workshop.is_call(work):
            self._workshop.call(work)
        else:
            self._workshop.program(work, self.files.workdir)

    async def run(self, work: RunRequest, sink: Sink | None = None) -> RunResult:
        if work.terminal is not None:
            return RunResult(await self._on_terminal(work, work.terminal, sink))
        if work.kind is ExecutionKind.command:
            return RunResult(await self.command(self._workshop.command(work), sink))
        if self._workshop.is_call(work):
            return await self._call(work, sink)
        program = self._workshop.program(work, self.files.workdir, await self._workshop.flags(work))
        if not program.own_names:
            return await self._interpret(program, work, sink)
        async with self._own_names:
            return await self._build_and_run(program, sink)

    async def command(self, command: Command, sink: Sink | None = None, network: Network | None = None) -> Outcome:
        """network: another than the one that programs have."""
        policy = self._workshop.command_policy(network)
        policy = policy if network is not None else self._on_network(policy)
        async with _Taken(self._standby, policy, again=network is None) as box:
            return await _bounded(box, command, sink)

    async def open_context(self, limits: Limits, env: Mapping[str, str], modules: tuple[str, ...] = ()) -> Context:
        """A live interpreter on these files, which finds modules in these folders too. The caller owes close_context()."""
        box = await self._standby.take(self._on_network(self._workshop.context_policy()))
        context = Context(box, limits, self._workshop.keep_bytes)
        self._contexts.add(context)
        try:
            await context.start(self._workshop.ways.python, _harmless(env))
            if modules:
                await context.execute(f"__import__('sys').path.extend({list(modules)!r})", wall_s=_MODULES_WITHIN_S)
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
            raise Unavailable(f"what runs here cannot be paused: {self.files.no_pause}")

    async def pause(self) -> None:
        """Whatever runs here stands still, and so does its time."""
        await self.files.pause()

    def resume(self) -> None:
        if not self.closed:
            self.files.resume()

    async def close(self) -> None:
        """Idempotent. Ends whatever runs here; afterwards the files are gone."""
        if self.closed:
            return
        self.closed = True
        try:
            await asyncio.gather(*(self.close_context(context) for context in list(self._contexts)))
            await self._standby.close()
        finally:
            await self.files.close()

    def _on_network(self, policy: Policy) -> Policy:
        return policy if self._network is None else dataclasses.replace(policy, network=self._network)

    async def _on_terminal(self, work: RunRequest, terminal: Terminal, sink: Sink | None) -> Outcome:
        shop = self._workshop
        async with _Taken(self._standby, self._on_network(shop.command_policy())) as box:
            return await terminal.run(box, shop.command(work), shop.ways.python, sink)

    async def _call(self, work: RunRequest, sink: Sink | None) -> RunResult:
        policy, made = self._workshop.call(work)
        async with _Taken(self._standby, self._on_network(policy)) as box:
            if work.filename:
                stage(box, [File(work.filename, work.code.encode(errors="surrogateescape"))])
            called = await call(box, made, sink)
        return RunResult(called.outcome, None, called.told)

    async def _interpret(self, program: ProgramPlan, work: RunRequest, sink: Sink | None) -> RunResult:
        """Links into the toolchains are made where the session has nothing of that name."""
        taken = temp_files.names(self.files) if program.plan.links else frozenset()
        links = tuple(link for link in program.plan.links if link[0] not in taken)
        placed = [*([] if work.filename else [file.name for file in program.plan.files]), *(name for name, _ in links)]
        plan = dataclasses.replace(program.plan, links=links)
        async with _Taken(self._standby, self._on_network(program.policy)) as box:
            try:
                result = await self._perform(box, dataclasses.replace(program, plan=plan), sink)
            finally:
                if not self.closed:
                    temp_files.unlink(self.files, placed)
        return _ran(result)

    async def _build_and_run(self, program: ProgramPlan, sink: Sink | None) -> RunResult:
        plan, workdir = program.plan, self.files.workdir
        before = temp_files.names(self.files)
        staged = {temp_files.first_part(name, workdir) for name in (*(file.name for file in plan.files), *dict(plan.links))} - {
            ""
        }
        temp_files.refuse_to_replace(before, staged, program.language.title)
        policy = dataclasses.replace(program.policy, single_use=False)
        async with _Taken(self._standby, self._on_network(policy)) as box:
            made = frozenset(staged)
            try:
                built = await self._perform(box, program, None, only_build=True)
                made = temp_files.sayable(temp_files.names(self.files) - before) | staged
                if built.compile is not None and not built.compile.ok:
                    return RunResult(built.compile)
                without_links = dataclasses.replace(program, plan=dataclasses.replace(plan, links=()))
                build = Build(built.compile, ()) if built.compile is not None else None
                return _ran(await self._perform(box, without_links, sink, build=build))
            finally:
                await self._sweep(box, sorted(made))

    async def _perform(
        self, box: Box, program: ProgramPlan, sink: Sink | None, *, build: Build | None = None, only_build: bool = False
    ) -> JobResult:
        shop = self._workshop
        task = Task(program.language, program.job, (), sink, build, only_build=only_build)
        return await BoxRun(box, task, program.plan, shop.allowance.quotas, shop.metrics, shop.turns).perform()

    async def _sweep(self, box: Box, made: list[str]) -> None:
        """By a command in the box, which may do no more than the program itself could. A box that died took its last chance; then
        what is left of the program stays."""
        for start in range(0, len(made), _NAMES_AT_ONCE):
            argv = ("/bin/rm", "-rf", "--", *(f"./{name}" for name in made[start : start + _NAMES_AT_ONCE]))
            try:
                await _bounded(box, Command(argv, limits=_SWEEP_LIMITS), None)
            except (PlatformFault, Unavailable):
                return


class _Taken:
    """A box of the right kind, closed on the way out, with another one of its kind on its way. again: whether the next work is
    likely to want one like it."""

    def __init__(self, standby: Standby, policy: Policy, *, again: bool = True) -> None:
        self._standby = standby
        self._policy = policy
        self._again = again
        self._box: Box | None = None

    async def __aenter__(self) -> Box:
        self._box = await self._standby.take(self._policy)
        return self._box

    async def __aexit__(self, *_error: object) -> None:
        assert self._box is not None
        self._standby.release(self._box, self._policy if self._again else None)


def _harmless(env: Mapping[str, str]) -> dict[str, str]:
    """Without what only an interpreter that is being started would heed: this one is up already."""
    return {name: value for name, value in env.items() if not name.startswith(_READ_WHEN_STARTED)}


def _ran(result: JobResult) -> RunResult:
    outcome = result.run or result.compile
    assert outcome is not None
    return RunResult(outcome, result.compile if result.run is not None else None)


async def _bounded(box: Box, command: Command, sink: Sink | None) -> Outcome:
    try:
        async with box.clock.timeout(command.limits.wall_s + GRACE_S):
            return await box.run(command, sink=sink)
    except TimeoutError as error:
        raise PlatformFault("the box did not answer in time") from error
