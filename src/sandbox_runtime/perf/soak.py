"""Many runs, a third of them rough, on a server of its own; then: what is left of them, and how much heavier did it become?

The server's pool has a fixed size, so that its idle boxes are the same before and after. As many runs as will be counted (but no
more than WARMUP_RUNS) go before: memory that a server takes once, until its allocator has room for the largest outputs at once,
is not growth. Fewer than ENOUGH_RUNS say nothing about growth.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import asdict, dataclass
from typing import Any

from sandbox_runtime.perf import processes
from sandbox_runtime.perf.jobs import SOAK
from sandbox_runtime.perf.load_client import Loader, LoadResult
from sandbox_runtime.perf.server_process import Server

CONCURRENCY = 16
CALM_WITHIN_S = 15.0
WARMUP_RUNS = 1000
ENOUGH_RUNS = 500
_SECONDS_FOR_EACH = 0.5
_GRACE_S = 120.0
_LOOK_EVERY_S = 0.25


@dataclass(frozen=True, slots=True)
class Holdings:
    """What a server and all that came of it hold at one moment."""

    processes: int
    mounts: int
    cgroups: int
    descriptors: int
    folders: int
    """Files and folders of its state folder."""

    def beyond(self, other: Holdings) -> Holdings:
        mine, theirs = asdict(self), asdict(other)
        return Holdings(**{name: max(0, mine[name] - theirs[name]) for name in mine})

    @property
    def total(self) -> int:
        return sum(asdict(self).values())


@dataclass(frozen=True, slots=True)
class SoakResult:
    runs: int
    took_s: float
    wrong: int
    faults: dict[str, int]
    before: Holdings
    after: Holdings
    leftovers: Holdings
    server_bytes_before: int
    server_bytes_after: int
    helpers_bytes_before: int | None
    helpers_bytes_after: int | None
    """PSS of all processes that come with the server; None where they cannot be looked into."""

    @property
    def growth(self) -> float | None:
        """Of the server's own memory: 0.05 is 5 %. None after too few runs."""
        return self.server_bytes_after / self.server_bytes_before - 1 if self.runs >= ENOUGH_RUNS else None

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "growth": self.growth}


def holdings(server: Server) -> Holdings:
    groups = processes.cgroups_of(server.pid)
    living = processes.descendants(server.pid) | processes.processes_in(groups)
    return Holdings(
        processes=len(living),
        mounts=processes.mounts(server.pid) + sum(processes.mounts(pid) for pid in living),
        cgroups=len(groups),
        descriptors=processes.descriptors(server.pid) + sum(processes.descriptors(pid) for pid in living),
        folders=processes.entries_below(server.state_dir),
    )


async def soak(server: Server, loader: Loader, runs: int) -> SoakResult:
    await _pour(server, loader, min(runs, WARMUP_RUNS))
    await server.settle()
    before, memory_before, helpers_before = await _calm(server), processes.resident_bytes(server.pid), _helpers(server)
    begun = time.perf_counter()
    result = await _pour(server, loader, runs)
    took_s = time.perf_counter() - begun
    await server.settle()
    after = await _calm(server, before)
    return SoakResult(
        runs=runs,
        took_s=took_s,
        wrong=result.wrong,
        faults=result.faults,
        before=before,
        after=after,
        leftovers=after.beyond(before),
        server_bytes_before=memory_before,
        server_bytes_after=processes.resident_bytes(server.pid),
        helpers_bytes_before=helpers_before,
        helpers_bytes_after=_helpers(server),
    )


async def _pour(server: Server, loader: Loader, runs: int) -> LoadResult:
    within_s = _GRACE_S + runs * _SECONDS_FOR_EACH
    return await loader.run_all(server.url, SOAK, CONCURRENCY, runs, within_s)


async def _calm(server: Server, aim: Holdings | None = None) -> Holdings:
    """Until nothing is left beyond the aim, or, without one, until two looks in a row find the same."""
    deadline = time.monotonic() + CALM_WITHIN_S
    last: Holdings | None = None
    while True:
        found = holdings(server)
        done = found == last if aim is None else found.beyond(aim).total == 0
        if done or time.monotonic() > deadline:
            return found
        last = found
        await asyncio.sleep(_LOOK_EVERY_S)


def _helpers(server: Server) -> int | None:
    try:
        return processes.weight_of_all(processes.descendants(server.pid)).pss_bytes
    except PermissionError:
        return None
