"""Environments opened ahead of time, for each template and mode, with a standby box for the first program.

Theory of operation. Each template and mode requested lately has a WarmPool. Its target is the template's pool size or the
number of environments taken within one tick, whichever is more, within the maximum of all pools together. Environments are opened
one at a time, when one was taken and at every tick. take() never waits for that: if none is ready, the caller opens one. A kind
that is not requested within its idle time shrinks to the template's minimum.
"""

from __future__ import annotations

import asyncio
from typing import NamedTuple

from sandbox_runtime.engine.pools.background import cancel_all, repeat
from sandbox_runtime.engine.pools.warm_pool import WarmPool
from sandbox_runtime.errors import Unavailable
from sandbox_runtime.model import PoolSizes, Resources, SessionMode, Template
from sandbox_runtime.sessions.nodes.node import Environment, NodeHost
from sandbox_runtime.telemetry import Log

TICK_S = 5.0
_BACKOFF_S = 5.0
_DEMAND_DECAY = 0.5
_REFILL_AFTER_S = 0.05


class EnvironmentKind(NamedTuple):
    """What makes two environments interchangeable. Cores, memory and processes are limits of what runs in them."""

    template: str
    mode: SessionMode
    disk_bytes: int
    network: str = ""


class _KindDemand:
    """The demand for environments of one kind."""

    def __init__(self, kind: EnvironmentKind, resources: Resources, sizes: PoolSizes, now: float) -> None:
        self.resources = resources
        self.sizes = sizes
        self.requested_at = now
        self.taken = 0.0
        self.warm: WarmPool[Environment]
        self._mode = kind.mode

    def wanted(self, now: float) -> int:
        if now - self.requested_at > self.sizes.idle_s:
            return self.sizes.minimum
        size = self.sizes.ephemeral if self._mode is SessionMode.ephemeral else self.sizes.persistent
        return max(size, self.sizes.minimum, round(self.taken))


class EnvironmentPool:
    """Holds at most `max_ready` environments of all kinds together; 0 disables the pool."""

    def __init__(self, host: NodeHost, max_ready: int, log: Log) -> None:
        self._host = host
        self._max_ready = max_ready
        self._log = log
        self._kinds: dict[EnvironmentKind, _KindDemand] = {}
        self._opening = asyncio.Lock()
        self._tick_task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> EnvironmentPool:
        if self._max_ready:
            self._tick_task = asyncio.create_task(repeat(TICK_S, self._tick))
        return self

    async def __aexit__(self, *_error: object) -> None:
        if self._tick_task is not None:
            await cancel_all([self._tick_task])
        await asyncio.gather(*(demand.warm.close() for demand in self._kinds.values()))

    @property
    def size(self) -> int:
        return sum(len(demand.warm.idle) for demand in self._kinds.values())

    def has(self, kind: EnvironmentKind) -> bool:
        demand = self._kinds.get(kind)
        return demand is not None and bool(demand.warm.idle)

    def want(
        self, template: Template, mode: SessionMode, resources: Resources, sizes: PoolSizes, network: str = ""
    ) -> EnvironmentKind:
        """Keep environments of this kind ready from now on."""
        kind = EnvironmentKind(template.id, mode, resources.disk_bytes, network)
        now = asyncio.get_running_loop().time()
        demand = self._kinds.get(kind)
        if demand is None:
            demand = self._kinds[kind] = self._new_demand(kind, resources, sizes, now)
            demand.warm.refill()
        demand.requested_at, demand.sizes = now, sizes
        return kind

    def take(self, kind: EnvironmentKind) -> Environment | None:
        """Return an unused environment, which now belongs to the caller; None if none is ready."""
        demand = self._kinds.get(kind)
        if demand is None:
            return None
        demand.taken += 1
        environment = demand.warm.pop()
        if demand.warm.idle:  # opening another one at once would only slow what is about to run in this one
            asyncio.get_running_loop().call_later(_REFILL_AFTER_S, self._refill)
        else:
            self._refill()
        return environment

    def _new_demand(self, kind: EnvironmentKind, resources: Resources, sizes: PoolSizes, now: float) -> _KindDemand:
        demand = _KindDemand(kind, resources, sizes, now)
        demand.warm = WarmPool(
            lambda: self._open(demand, kind.network),
            _close,
            target=lambda: self._target(demand),
            usable=_is_open,
            on_failure=self._on_failure,
            backoff_s=(_BACKOFF_S, _BACKOFF_S),
            one_by_one=True,
        )
        return demand

    def _target(self, demand: _KindDemand) -> int:
        """Return how many environments of this kind should be ready, within the room that all kinds leave."""
        room = self._max_ready - sum(other.warm.size for other in self._kinds.values())
        return min(demand.wanted(asyncio.get_running_loop().time()), demand.warm.size + room)

    async def _open(self, demand: _KindDemand, network: str) -> Environment:
        async with self._opening:
            environment = await self._host.open(demand.resources, network)
        environment.prepare()
        return environment

    def _on_failure(self, error: Exception) -> None:
        if not isinstance(error, Unavailable):
            self._log.warning("no home could be opened ahead of time", reason=str(error))

    def _refill(self) -> None:
        for demand in self._kinds.values():
            demand.warm.refill()

    def _tick(self) -> None:
        self._trim()
        self._decay()
        self._refill()

    def _trim(self) -> None:
        now = asyncio.get_running_loop().time()
        for kind, demand in list(self._kinds.items()):
            demand.warm.trim()
            if not demand.wanted(now) and not demand.warm.size:
                del self._kinds[kind]

    def _decay(self) -> None:
        """Forget demand, and renew standby boxes that expired."""
        for demand in self._kinds.values():
            demand.taken *= _DEMAND_DECAY
            for environment in demand.warm.idle:
                environment.prepare()


async def _close(environment: Environment) -> None:
    await environment.close()


def _is_open(environment: Environment) -> bool:
    return not environment.closed
