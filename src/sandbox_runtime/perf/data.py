"""The section about a program that imports numpy and pandas: with them loaded ahead, and without."""

from __future__ import annotations

import dataclasses
from contextlib import AsyncExitStack
from functools import partial

from sandbox_runtime.errors import Unavailable
from sandbox_runtime.perf import baselines
from sandbox_runtime.perf.bench_environment import BenchEnvironment, has_modules
from sandbox_runtime.perf.bench_plan import TITLES
from sandbox_runtime.perf.engines import Engines, open_engines
from sandbox_runtime.perf.jobs import DATA, PLAIN
from sandbox_runtime.perf.rounds import Contender, Load, interleave, interleave_loads
from sandbox_runtime.perf.server_process import Server, serving

PRESET = "data"
CONCURRENT = 16
_REPEAT = 5


async def data(environment: BenchEnvironment) -> None:
    if not has_modules(environment.guest.python, "numpy", "pandas"):
        raise Unavailable(f"the guest interpreter {environment.guest.python} has no numpy and pandas")
    settings = dataclasses.replace(environment.settings, preset=(PRESET,))
    async with AsyncExitStack() as stack:
        source = stack.enter_context(baselines.program_file(DATA))
        engines = await stack.enter_async_context(open_engines(settings))
        server = await stack.enter_async_context(serving(settings))
        await environment.wait_until_checked(server)
        await _measure(environment, engines, server, baselines.bare(environment.guest.python, source, DATA))


async def _measure(environment: BenchEnvironment, engines: Engines, server: Server, bare: baselines.Baseline) -> None:
    effort, loader = environment.effort, environment.loader

    async def calm() -> None:
        await engines.settle()
        await server.settle()

    async def alone() -> float:
        return bare.once()

    over_http = partial(loader.once, server.url, DATA)
    contenders = [
        Contender("data_bare", "python main.py", alone, calm),
        Contender("data_cold", "engine: new box, new interpreter", partial(engines.started_anew, DATA), calm),
        Contender("data_warm", "engine: box from the pool, data preset", partial(engines.from_pool, DATA), calm, _REPEAT),
        Contender("data_http", "HTTP, with pauses, data preset", over_http, calm, _REPEAT),
        Contender("data_plain", "engine: plain program, data preset", partial(engines.from_pool, PLAIN), calm, _REPEAT),
    ]
    loads = [
        Load(f"data_http_{CONCURRENT}", f"HTTP, {CONCURRENT} at once, data preset", lambda s: _pour(environment, server, s), calm)
    ]
    environment.progress.begin(TITLES["data"], effort.data_rounds + 1 + effort.windows)
    environment.report.add(await interleave(contenders, effort.data_rounds, 1, environment.progress.step))
    environment.report.add(await interleave_loads(loads, effort.windows, effort.window_s, environment.progress.step))


async def _pour(environment: BenchEnvironment, server: Server, seconds: float) -> tuple[list[float], float]:
    return await environment.loader.for_seconds(server.url, DATA, CONCURRENT, seconds, environment.effort.window_warmup_s)
