"""The section about sessions: the first result, the next cell, a fork, a thousand that idle, and a server that is killed.

What single requests take is measured over HTTP on a server of its own, with its store in a file; what many sessions weigh and
what a kill costs, on the sessions room itself.
"""

from __future__ import annotations

import asyncio
import dataclasses
import os
import statistics
import time
from contextlib import AsyncExitStack

from sandbox_runtime.assembly import open_platform
from sandbox_runtime.errors import Unavailable
from sandbox_runtime.perf import baselines, processes
from sandbox_runtime.perf.bench_environment import BenchEnvironment, has_modules
from sandbox_runtime.perf.bench_plan import TITLES
from sandbox_runtime.perf.crash import kill_often
from sandbox_runtime.perf.http_client import Target, connect
from sandbox_runtime.perf.jobs import PLAIN
from sandbox_runtime.perf.rounds import Contender, interleave
from sandbox_runtime.perf.server_process import serving
from sandbox_runtime.perf.session_client import SessionClient
from sandbox_runtime.perf.session_results import IdleSessionsResult, SessionResults
from sandbox_runtime.sessions import ExecutionSpec, Sessions, SessionSpec
from sandbox_runtime.settings import Settings

FEW = 10
_REPEAT = 3
_CALM_S = 0.15
_STANDBY_S = 1.0
_IDLE_S = 3.0
_LOOKS = 40
_PAUSE_S = 0.02
_DATA = "import pandas\nframe = pandas.DataFrame({'a': range(1000)})"


async def sessions(environment: BenchEnvironment) -> None:
    if environment.settings.isolation != "namespaces":
        raise Unavailable("sessions need the namespaces backend")
    effort = environment.effort
    environment.progress.begin(TITLES["sessions"], effort.session_rounds + 1 + 2)
    await _turns(environment)
    await _forks(environment)
    crowded = await _crowded(_own(environment, "many"), effort.idle_sessions)
    environment.progress.step()
    killed = await kill_often(_own(environment, "killed"), effort.kills)
    environment.progress.step()
    environment.report.sessions = SessionResults(crowded, killed)


def _own(environment: BenchEnvironment, name: str) -> Settings:
    return dataclasses.replace(
        environment.settings,
        state_dir=f"{environment.settings.state_dir}/{name}",
        node_name=name,
        session_max=100_000,
        session_max_per_owner=100_000,
        session_standby_s=_STANDBY_S if name == "many" else environment.settings.session_standby_s,
    )


async def _turns(environment: BenchEnvironment) -> None:
    async with AsyncExitStack() as stack:
        source = stack.enter_context(baselines.program_file(PLAIN))
        turns = await _Turns.opened(stack, dataclasses.replace(environment.settings, warm_pool_size=4))
        bare = baselines.bare(environment.guest.python, source, PLAIN)

        async def alone() -> float:
            return bare.once()

        contenders = [
            Contender("session_bare", "python main.py", alone, _calm),
            Contender("session_first", "HTTP: a new session and its first result", turns.first, _calm, _REPEAT),
            Contender("session_handler", "HTTP: a handler in a session", turns.handler, _calm, _REPEAT),
            Contender("session_cell", "HTTP: the next cell in a live context", turns.cell, _calm, _REPEAT),
        ]
        environment.report.add(await interleave(contenders, environment.effort.session_rounds, 1, environment.progress.step))


async def _forks(environment: BenchEnvironment) -> None:
    """With numpy and pandas loaded ahead, as an operator would have it whose sessions use them."""
    if not has_modules(environment.guest.python, "pandas"):
        environment.report.skipped["session_fork"] = f"the guest interpreter {environment.guest.python} has no pandas"
        return
    async with AsyncExitStack() as stack:
        turns = await _Turns.opened(stack, dataclasses.replace(environment.settings, preset=("data",)), _DATA)
        contender = Contender("session_fork", "HTTP: a fork of a live session with pandas", turns.fork, _calm, _REPEAT)
        environment.report.add(await interleave([contender], environment.effort.session_rounds, 1, lambda: None))


async def _calm() -> None:
    await asyncio.sleep(_CALM_S)


class _Turns:
    """One live session with a context, beside those that come and go."""

    def __init__(self, door: SessionClient, session: str, context: str) -> None:
        self._door = door
        self._session = session
        self._context = context

    @classmethod
    async def opened(cls, stack: AsyncExitStack, settings: Settings, code: str = "pass") -> _Turns:
        server = await stack.enter_async_context(serving(settings))
        connection = await connect(Target.of(server.url))
        stack.callback(connection.close)
        door = SessionClient(server.url, connection)
        session, _ = await door.create()
        turns = cls(door, session, await door.open_context(session))
        await door.cell(session, turns._context, code, "")
        return turns

    async def first(self) -> float:
        session, created_s = await self._door.create()
        ran_s = await self._door.handler(session)
        await self._door.terminate(session)
        return created_s + ran_s

    async def handler(self) -> float:
        return await self._door.handler(self._session)

    async def cell(self) -> float:
        return await self._door.cell(self._session, self._context, "print(sum(range(10)))", "45\n")

    async def fork(self) -> float:
        copy, taken_s = await self._door.fork(self._session)
        await self._door.cell(copy, self._context, "print(frame.a.sum())", "499500\n")
        await self._door.terminate(copy)
        return taken_s


async def _crowded(settings: Settings, many: int) -> IdleSessionsResult:
    """Each session has run something, and has been idle for long enough that no box waits for it any more."""
    async with open_platform(settings, sessions=True) as platform:
        verbs = platform.sessions
        await _make(verbs, FEW)
        before, few_p50_s = _weight(), await _p50(verbs)
        await _make(verbs, many - FEW)
        after = _weight()
        return IdleSessionsResult(many, (after - before) / (many - FEW), few_p50_s, await _p50(verbs))


async def _make(verbs: Sessions, count: int) -> None:
    for _ in range(count):
        session = await verbs.create(SessionSpec())
        await verbs.executions.run(session.id, ExecutionSpec(code="print(1)"))
    await asyncio.sleep(_IDLE_S)


async def _p50(verbs: Sessions) -> float:
    session, taken = await verbs.create(SessionSpec()), []
    for _ in range(_LOOKS):
        begun = time.perf_counter()
        await verbs.executions.run(session.id, ExecutionSpec(code="print(1)"))
        taken.append(time.perf_counter() - begun)
        await asyncio.sleep(_PAUSE_S)
    await verbs.delete(session.id)
    return statistics.median(taken)


def _weight() -> int:
    """Of this process and all that came of it."""
    try:
        return processes.weight_of_all({os.getpid(), *processes.descendants(os.getpid())}).pss_bytes
    except PermissionError as error:
        raise Unavailable("the memory of processes is closed to this user; root may look into it") from error
