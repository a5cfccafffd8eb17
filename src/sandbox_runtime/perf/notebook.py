"""The section about notebooks: a cell over HTTP, against starting a kernel as Jupyter's own client does."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

from sandbox_runtime.errors import PlatformFault, Unavailable
from sandbox_runtime.perf.bench_environment import BenchEnvironment, has_modules
from sandbox_runtime.perf.bench_plan import TITLES
from sandbox_runtime.perf.http_client import Connection, Target, connect
from sandbox_runtime.perf.rounds import Contender, Load, interleave, interleave_loads
from sandbox_runtime.perf.server_process import Server, serving

CELL, PRINTED = "print(sum(range(10)))", "45\n"
OWN_MEMORY_MB = 1024
"""A limit of its own keeps a notebook from being given a kernel that is up already."""
_REPEAT = 3
_ANSWER_WITHIN_S = 60.0
_SETTLE_WITHIN_S = 30.0
_PAUSE_S = 0.02
_IDLE = re.compile(rb"^sandbox_notebook_kernels_idle (\S+)$", re.MULTILINE)
_BASELINE = """
import sys, time
from jupyter_client import KernelManager

for code in sys.stdin:
    begun = time.perf_counter()
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel()
    client = manager.client()
    client.start_channels()
    client.wait_for_ready(timeout=60)
    said = []
    client.execute_interactive(code, timeout=60, output_hook=said.append)
    taken_s = time.perf_counter() - begun
    client.stop_channels()
    manager.shutdown_kernel(now=True)
    right = "".join(one["content"].get("text", "") for one in said) == "45\\n"
    print(taken_s if right else "wrong", flush=True)
"""
"""Everything is imported before the clock starts, and the kernel's end is not counted: a baseline must not look worse than it
is."""


async def notebook(environment: BenchEnvironment) -> None:
    if not has_modules(environment.guest.python, "ipykernel", "jupyter_client"):
        raise Unavailable(f"the guest interpreter {environment.guest.python} has no ipykernel and jupyter_client")
    async with AsyncExitStack() as stack:
        cold = await stack.enter_async_context(_kernels_by_hand(environment.guest.python))
        server = await stack.enter_async_context(serving(environment.settings))
        connection = await connect(Target.of(server.url, "/run_jupyter"))
        stack.callback(connection.close)
        await _measure(environment, server, cold, _Asker(server, connection))


async def _measure(environment: BenchEnvironment, server: Server, cold: asyncio.subprocess.Process, ask: _Asker) -> None:
    effort = environment.effort
    calm = partial(_calm, server, environment.settings.notebook_pool_size)
    await ask.once()
    contenders = [
        Contender("kernel_cold", "a kernel started by jupyter_client", partial(_by_hand, cold), calm),
        Contender("notebook_own", "HTTP, a kernel started for it", partial(ask.once, OWN_MEMORY_MB), calm),
        Contender("notebook_http", "HTTP, with pauses", ask.once, calm, _REPEAT),
    ]
    loads = [Load("notebook_1", "HTTP, back to back", ask.back_to_back, calm)]
    environment.progress.begin(TITLES["notebook"], effort.notebook_rounds + 1 + effort.windows)
    environment.report.add(await interleave(contenders, effort.notebook_rounds, 1, environment.progress.step))
    environment.report.add(await interleave_loads(loads, effort.windows, effort.window_s, environment.progress.step))


class _Asker:
    def __init__(self, server: Server, connection: Connection) -> None:
        self._target = Target.of(server.url, "/run_jupyter")
        self._connection = connection

    async def once(self, memory_mb: int = -1) -> float:
        body = {"cells": [CELL], "total_timeout": _ANSWER_WITHIN_S, "memory_limit_MB": memory_mb}
        answer = await self._connection.ask(self._target.post(json.dumps(body).encode()))
        body = json.loads(answer.body)
        if answer.status != 200 or body["status"] != "Success" or body["cells"][0]["stdout"] != PRINTED:
            raise PlatformFault(f"a wrong answer to a notebook: {answer.body[:300].decode(errors='replace')}")
        return answer.took_s

    async def back_to_back(self, seconds: float) -> tuple[list[float], float]:
        begun, samples = time.perf_counter(), []
        while (elapsed_s := time.perf_counter() - begun) < seconds:
            samples.append(await self.once())
        return samples, elapsed_s


async def _calm(server: Server, kernels: int) -> None:
    """Until as many kernels wait as shall, and nothing else is under way."""
    await server.settle()
    target = Target.of(server.url, "/metrics")
    connection = await connect(target)
    try:
        async with asyncio.timeout(_SETTLE_WITHIN_S):
            while _idle((await connection.ask(target.get())).body) < kernels:
                await asyncio.sleep(_PAUSE_S)
    finally:
        connection.close()


def _idle(metrics: bytes) -> float:
    found = _IDLE.search(metrics)
    if found is None:
        raise PlatformFault("the server does not tell how many kernels wait")
    return float(found[1])


@asynccontextmanager
async def _kernels_by_hand(python: str) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        *(python, "-c", _BASELINE),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        cwd="/",
    )
    try:
        yield process
    finally:
        assert process.stdin is not None
        process.stdin.close()
        try:
            async with asyncio.timeout(_SETTLE_WITHIN_S):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()


async def _by_hand(process: asyncio.subprocess.Process) -> float:
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(CELL.encode() + b"\n")
    async with asyncio.timeout(_ANSWER_WITHIN_S):
        said = (await process.stdout.readline()).decode().strip()
    try:
        return float(said)
    except ValueError as error:
        raise PlatformFault(f"a kernel started by jupyter_client did not answer: {said or 'it died'}") from error
