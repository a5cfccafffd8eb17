"""The sections about an ordinary small program: memory of idle boxes, single runs, runs under load."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path

from sandbox_runtime.assembly import STD, build_policies, open_platform
from sandbox_runtime.errors import Unavailable
from sandbox_runtime.isolation.rootfs import outermost
from sandbox_runtime.perf import baselines
from sandbox_runtime.perf.baselines import Baseline
from sandbox_runtime.perf.bench_environment import BenchEnvironment
from sandbox_runtime.perf.bench_plan import TITLES
from sandbox_runtime.perf.engines import Engines, open_engines
from sandbox_runtime.perf.jobs import PLAIN
from sandbox_runtime.perf.memory import MANY, weigh
from sandbox_runtime.perf.rounds import Contender, Load, interleave, interleave_loads
from sandbox_runtime.perf.server_process import Server, serving

CONCURRENT = 16
_REPEAT = 3
"""Cheap contenders get more turns in a round: their tails need more samples."""
_PEER_PAUSE_S = 0.05


async def memory(environment: BenchEnvironment) -> None:
    sizes = sorted({max(1, environment.settings.pool_size), MANY})
    environment.progress.begin(TITLES["memory"], len(sizes))
    async with open_platform(environment.settings, prewarm=False) as platform:
        policy = build_policies(environment.settings)[STD]
        for size in sizes:
            environment.report.memory.append(await weigh(platform.backend, policy, size))
            environment.progress.step()


async def single_and_load(environment: BenchEnvironment) -> None:
    """The two share their engines and their server, which take longer to start than to measure."""
    async with AsyncExitStack() as stack:
        source = stack.enter_context(baselines.program_file(PLAIN))
        bare = baselines.bare(environment.guest.python, source, PLAIN)
        bwrap = _bubblewrap(environment, source)
        engines = await stack.enter_async_context(open_engines(environment.settings))
        server = await stack.enter_async_context(serving(environment.settings))
        await environment.wait_until_checked(server)
        stage = _Stage(environment, engines, server, bare, bwrap)
        if "single" in environment.effort.sections:
            await stage.single()
        if "load" in environment.effort.sections:
            await stage.load()


def _bubblewrap(environment: BenchEnvironment, source: Path) -> Baseline | None:
    try:
        return baselines.bubblewrap(environment.guest.python, outermost(environment.guest.prefixes), source, PLAIN)
    except Unavailable as error:
        environment.report.skipped["bwrap"] = str(error)
        return None


class _Stage:
    def __init__(
        self, environment: BenchEnvironment, engines: Engines, server: Server, bare: Baseline, bwrap: Baseline | None
    ) -> None:
        self._scene = environment
        self._engines = engines
        self._server = server
        self._bare = bare
        self._bwrap = bwrap

    async def single(self) -> None:
        effort = self._scene.effort
        self._scene.progress.begin(TITLES["single"], effort.rounds + effort.warmup_rounds)
        contenders = [*self._single_baselines(), *self._single_ours()]
        standings = await interleave(contenders, effort.rounds, effort.warmup_rounds, self._scene.progress.step)
        self._scene.report.add(standings)

    def _single_baselines(self) -> list[Contender]:
        found = [Contender("bare", "python main.py", _as_once(self._bare), self._calm)]
        if self._bwrap:
            found.append(Contender("bwrap", "bwrap … python main.py", _as_once(self._bwrap), self._calm))
        if self._scene.peer:
            once = partial(self._scene.loader.once, self._scene.peer, PLAIN)
            found.append(Contender("peer", "peer over HTTP, with pauses", once, self._peer_pause))
        return found

    def _single_ours(self) -> list[Contender]:
        engines, server = self._engines, self._server
        over_http = partial(self._scene.loader.once, server.url, PLAIN)
        return [
            Contender("engine_cold", "engine: new box, new interpreter", partial(engines.started_anew, PLAIN), self._calm),
            Contender("engine_on_demand", "engine: new box, forked interpreter", partial(engines.opened, PLAIN), self._calm),
            Contender("engine_warm", "engine: box from the pool", partial(engines.from_pool, PLAIN), self._calm, _REPEAT),
            Contender(
                "engine_output", "the same, until its output is there", partial(engines.until_output, PLAIN), self._calm, _REPEAT
            ),
            Contender("http", "HTTP, with pauses", over_http, self._calm, _REPEAT),
        ]

    async def load(self) -> None:
        effort = self._scene.effort
        loads = self._loads()
        self._scene.progress.begin(TITLES["load"], effort.windows * len(loads))
        self._scene.report.add(await interleave_loads(loads, effort.windows, effort.window_s, self._scene.progress.step))

    def _loads(self) -> list[Load]:
        url, peer, cores = self._server.url, self._scene.peer, self._scene.cores
        found = [
            Load("bare_1", "python main.py, back to back", _in_threads(self._bare, 1), self._calm),
            Load("http_1", "HTTP, back to back", self._http(url, 1), self._calm),
            Load(f"http_{CONCURRENT}", f"HTTP, {CONCURRENT} at once", self._http(url, CONCURRENT), self._calm),
            Load("engine_1", "engine, back to back", self._engine(1), self._calm),
            Load(f"engine_{CONCURRENT}", f"engine, {CONCURRENT} at once", self._engine(CONCURRENT), self._calm),
        ]
        if self._bwrap:
            title = f"bwrap … python main.py, back to back, {cores} at once"
            found.insert(0, Load("bwrap_cores", title, _in_threads(self._bwrap, cores), self._calm))
        if peer:
            found.append(Load("peer_1", "peer, back to back", self._http(peer, 1), self._calm))
            found.append(Load(f"peer_{CONCURRENT}", f"peer, {CONCURRENT} at once", self._http(peer, CONCURRENT), self._calm))
        return found

    def _http(self, url: str, concurrency: int) -> Callable[[float], Awaitable[tuple[list[float], float]]]:
        warmup_s, loader = self._scene.effort.window_warmup_s, self._scene.loader
        return lambda seconds: loader.for_seconds(url, PLAIN, concurrency, seconds, warmup_s)

    def _engine(self, concurrency: int) -> Callable[[float], Awaitable[tuple[list[float], float]]]:
        warmup_s, engines = self._scene.effort.window_warmup_s, self._engines
        return lambda seconds: engines.burst(PLAIN, concurrency, seconds, warmup_s)

    async def _calm(self) -> None:
        """What our last runs left to do must disturb nobody, least of all a baseline."""
        await self._engines.settle()
        await self._server.settle()

    async def _peer_pause(self) -> None:
        await self._calm()
        await asyncio.sleep(_PEER_PAUSE_S)


def _as_once(baseline: Baseline) -> Callable[[], Awaitable[float]]:
    """Blocks the loop on purpose: nothing of ours shall run beside a baseline."""

    async def once() -> float:
        return baseline.once()

    return once


def _in_threads(baseline: Baseline, workers: int) -> Callable[[float], Awaitable[tuple[list[float], float]]]:
    return lambda seconds: asyncio.to_thread(baselines.back_to_back, baseline, workers, seconds)
