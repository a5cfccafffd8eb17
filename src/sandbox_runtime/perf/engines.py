"""Our engine in this process: boxes from the pool, boxes opened on demand, and boxes in which the interpreter is started anew."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass

from sandbox_runtime.assembly import STD, Platform, build_policies, open_platform
from sandbox_runtime.errors import PlatformFault
from sandbox_runtime.isolation.port import Backend
from sandbox_runtime.model import Command, File, Job, Limits, Outcome
from sandbox_runtime.model.limits import MIB
from sandbox_runtime.perf.jobs import PLAIN, Program
from sandbox_runtime.settings import Settings
from sandbox_runtime.workspace import stage

SETTLE_WITHIN_S = 30.0
_PAUSE_S = 0.001
_CALM_S = 0.003
SOURCE = "main.py"
_STARTED_ANEW = "-s"
"""An option that changes nothing here, and with which the interpreter is not the warm one's `python FILE`."""


@dataclass(frozen=True, slots=True)
class Engines:
    warm: Platform
    on_demand: Platform

    async def from_pool(self, program: Program) -> float:
        return await timed(self.warm, program)

    async def until_output(self, program: Program) -> float:
        """Until its output has arrived; what a run goes on to do is to see that nothing of it is left."""
        arrived: list[float] = []
        begun = time.perf_counter()
        result = await self.warm.engine.run(
            _job(self.warm, program), sink=lambda _stream, _piece: arrived.append(time.perf_counter())
        )
        _check(result.run, program)
        return arrived[-1] - begun

    async def opened(self, program: Program) -> float:
        return await timed(self.on_demand, program)

    async def started_anew(self, program: Program) -> float:
        """Through the port: nothing of the box or the interpreter is there beforehand."""
        settings = self.on_demand.settings
        command = Command((settings.guest_python, _STARTED_ANEW, SOURCE), limits=_limits(self.on_demand, program))
        policy = build_policies(settings)[STD]
        begun = time.perf_counter()
        box = await self.on_demand.backend.open(policy)
        try:
            stage(box, [File(SOURCE, program.code.encode())])
            outcome = await box.run(command)
        finally:
            await box.close()
        taken_s = time.perf_counter() - begun
        _check(outcome, program)
        return taken_s

    async def settle(self) -> None:
        """Until the pool is as full as it wants to be and nothing runs."""
        pool, least = self.warm.pool, self.warm.settings.pool_size
        async with asyncio.timeout(SETTLE_WITHIN_S):
            while pool.idle < least or pool.in_use:
                await asyncio.sleep(_PAUSE_S)
        await asyncio.sleep(_CALM_S)

    async def burst(self, program: Program, concurrency: int, seconds: float, warmup_s: float) -> tuple[list[float], float]:
        begins = time.perf_counter() + warmup_s
        ends = begins + seconds
        samples: list[float] = []

        async def work() -> None:
            while time.perf_counter() < ends:
                taken_s = await self.from_pool(program)
                if begins <= time.perf_counter() <= ends:
                    samples.append(taken_s)

        await asyncio.gather(*(work() for _ in range(concurrency)))
        return samples, seconds


@asynccontextmanager
async def open_engines(settings: Settings) -> AsyncIterator[Engines]:
    """Two engines on one backend. Returns when what is measured has been checked, so that nothing goes on in the background."""
    async with open_platform(settings) as warm:
        shared: nullcontext[Backend] = nullcontext(warm.backend)
        async with open_platform(settings, backend_context=shared, prewarm=False) as on_demand:
            for platform in (warm, on_demand):
                await timed(platform, PLAIN)
            yield Engines(warm, on_demand)


async def timed(platform: Platform, program: Program) -> float:
    """Seconds of one run; raises where it went wrong."""
    job = _job(platform, program)
    begun = time.perf_counter()
    result = await platform.engine.run(job)
    taken_s = time.perf_counter() - begun
    _check(result.run, program)
    return taken_s


def _job(platform: Platform, program: Program) -> Job:
    limits = _limits(platform, program)
    return Job(program.language, program.code, compile_limits=limits, run_limits=limits)


def _limits(platform: Platform, program: Program) -> Limits:
    memory_bytes = program.memory_limit_mb * MIB if program.memory_limit_mb > 0 else platform.request_limits.max_memory_bytes
    return platform.request_limits.default.replace(wall_s=program.run_timeout_s, memory_bytes=memory_bytes)


def _check(outcome: Outcome | None, program: Program) -> None:
    if outcome is None or not outcome.ok or outcome.stdout.text != program.stdout:
        reason = "nothing ran" if outcome is None else f"{outcome.ending} {outcome.message}{outcome.stderr.text[-300:]}"
        raise PlatformFault(f"a run of the engine went wrong: {reason}")
