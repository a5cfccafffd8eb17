"""The section about a program that imports numpy and pandas: with them loaded ahead, and without."""

from __future__ import annotations

import dataclasses
from contextlib import AsyncExitStack
from functools import partial

from sandbox_runtime.errors import Unavailable
from sandbox_runtime.perf import baselines
from sandbox_runtime.perf.engines import Engines, open_engines
from sandbox_runtime.perf.environment import Scene, has_modules
from sandbox_runtime.perf.jobs import DATA, PLAIN
from sandbox_runtime.perf.plan import TITLES
from sandbox_runtime.perf.rounds import Contender, Load, interleave, interleave_loads
from sandbox_runtime.perf.server_process import Server, serving

PRESET = "data"
CONCURRENT = 16
_REPEAT = 5


async def data(scene: Scene) -> None:
    if not has_modules(scene.guest.python, "numpy", "pandas"):
        raise Unavailable(f"the guest interpreter {scene.guest.python} has no numpy and pandas")
    settings = dataclasses.replace(scene.settings, preset=(PRESET,))
    async with AsyncExitStack() as stack:
        source = stack.enter_context(baselines.program_file(DATA))
        engines = await stack.enter_async_context(open_engines(settings))
        server = await stack.enter_async_context(serving(settings))
        await scene.wait_until_checked(server)
        await _measure(scene, engines, server, baselines.bare(scene.guest.python, source, DATA))


async def _measure(scene: Scene, engines: Engines, server: Server, bare: baselines.Baseline) -> None:
    effort, loader = scene.effort, scene.loader

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
    loads = [Load(f"data_http_{CONCURRENT}", f"HTTP, {CONCURRENT} at once, data preset", lambda s: _pour(scene, server, s), calm)]
    scene.progress.begin(TITLES["data"], effort.data_rounds + 1 + effort.windows)
    scene.report.add(await interleave(contenders, effort.data_rounds, 1, scene.progress.step))
    scene.report.add(await interleave_loads(loads, effort.windows, effort.window_s, scene.progress.step))


async def _pour(scene: Scene, server: Server, seconds: float) -> tuple[list[float], float]:
    return await scene.loader.for_seconds(server.url, DATA, CONCURRENT, seconds, scene.effort.window_warmup_s)
