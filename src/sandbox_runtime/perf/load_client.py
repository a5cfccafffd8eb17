"""The load generator as the bench holds it: start, give orders, end."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from sandbox_runtime.errors import PlatformFault
from sandbox_runtime.perf.jobs import Program

_MAX_LINE_BYTES = 256 * 1024 * 1024
_GRACE_S = 150.0
_END_WITHIN_S = 10.0


@dataclass(frozen=True, slots=True)
class LoadResult:
    """What came of an order: durations of the right answers, and how many were wrong in which way."""

    samples_s: list[float]
    elapsed_s: float
    wrong: int
    faults: dict[str, int]
    kinds: dict[str, int]

    def all_right(self) -> LoadResult:
        """Itself; raises PlatformFault where an answer was wrong."""
        if self.wrong:
            worst = max(self.faults, key=lambda text: self.faults[text])
            raise PlatformFault(f"{self.wrong} of {self.wrong + len(self.samples_s)} answers were wrong: {worst}")
        return self


class Loader:
    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def once(self, url: str, program: Program) -> float:
        result = await self._order(url, [program], concurrency=1, requests=1)
        return result.all_right().samples_s[0]

    async def for_seconds(
        self, url: str, program: Program, concurrency: int, seconds: float, warmup_s: float
    ) -> tuple[list[float], float]:
        result = await self._order(url, [program], concurrency=concurrency, seconds=seconds, warmup_s=warmup_s)
        result.all_right()
        return result.samples_s, result.elapsed_s

    async def run_all(
        self, url: str, programs: Sequence[Program], concurrency: int, requests: int, within_s: float
    ) -> LoadResult:
        """Afterwards no connection is left open."""
        return await self._order(url, programs, within_s=within_s, concurrency=concurrency, requests=requests, hang_up=True)

    async def overload(self, url: str, programs: Sequence[Program], clients: int, seconds: float) -> LoadResult:
        """Afterwards no connection is left open."""
        return await self._order(url, programs, concurrency=clients, seconds=seconds, hang_up=True)

    async def _order(self, url: str, programs: Sequence[Program], within_s: float = _GRACE_S, **rest: Any) -> LoadResult:
        bodies = [{"request": one.request(), "expectation": one.expectation()} for one in programs]
        line = json.dumps({"url": url, "programs": bodies, **rest}).encode() + b"\n"
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None and stdout is not None
        stdin.write(line)
        try:
            async with asyncio.timeout(within_s + rest.get("seconds", 0.0)):
                reply = await stdout.readline()
        except TimeoutError as error:
            raise PlatformFault(f"the load on {url} did not end in time") from error
        if not reply:
            raise PlatformFault("the load generator died")
        return LoadResult(**json.loads(reply))


@asynccontextmanager
async def open_loader() -> AsyncIterator[Loader]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-P",
        "-m",
        "sandbox_runtime.perf.load_generator",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=_MAX_LINE_BYTES,
    )
    try:
        yield Loader(process)
    finally:
        await _end(process)


async def _end(process: asyncio.subprocess.Process) -> None:
    assert process.stdin is not None
    process.stdin.close()
    try:
        async with asyncio.timeout(_END_WITHIN_S):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
