"""The port that every kind of node implements, and the node that is this machine.

A node opens environments: files that outlive what runs on them, and everything that can be run there. The local node opens them
on the isolation backend of this server; others will reach containers.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import Protocol

from sandbox_runtime.engine.contexts import Context
from sandbox_runtime.engine.environments import Environment as LocalEnvironment
from sandbox_runtime.engine.environments import EnvironmentParts, PlannedRun, RunRequest, RunResult
from sandbox_runtime.isolation.port import Sink
from sandbox_runtime.model import Command, Limits, Medium, Network, Node, Outcome, Resources
from sandbox_runtime.model.limits import MIB
from sandbox_runtime.sessions.lifecycle.placement import OVERCOMMIT
from sandbox_runtime.workspace import Area

_MEASURE_EVERY_S = 1.0


class Environment(Protocol):
    """The environment of one session on a node. Several things may run in it concurrently."""

    closed: bool

    @property
    def files(self) -> Area: ...

    def used_bytes(self) -> int:
        """Return the current size of its files. Raises OSError if it is closed."""
        ...

    def prepare(self) -> None:
        """Get ready to run something soon."""
        ...

    def check(self, request: RunRequest) -> PlannedRun:
        """Return the plan that `run` takes. Raises if the request cannot be run."""
        ...

    async def run(self, planned: PlannedRun, sink: Sink | None = None) -> RunResult: ...

    async def command(self, command: Command, sink: Sink | None = None, network: Network | None = None) -> Outcome: ...

    async def open_context(self, limits: Limits, env: Mapping[str, str], modules: tuple[str, ...] = ()) -> Context: ...

    async def close_context(self, context: Context) -> None: ...

    def check_pause(self) -> None:
        """Raise Unavailable if pausing is not supported here."""
        ...

    async def pause(self) -> None:
        """Stop everything that runs in it, and its clocks. Raises PlatformFault if that fails; then nothing is paused."""
        ...

    def resume(self) -> None: ...

    async def close(self) -> None:
        """Stop everything and delete the files. Idempotent."""
        ...


class NodeHost(Protocol):
    """A node that this server can open environments on."""

    id: str
    backend: str

    def medium(self, disk_bytes: int) -> Medium:
        """Return the medium of a session's files, given their maximum size."""
        ...

    async def open(self, resources: Resources, network: str = "") -> Environment:
        """Open an environment. Raises Unavailable if the node has no sessions or no such network, and PlatformFault."""
        ...

    def usage(self) -> tuple[float, float]:
        """Return the shares of processor and memory in use, 0 to 1."""
        ...

    def describe(self, created_ms: int) -> Node:
        """Return the row that describes this node."""
        ...


class LocalNodeHost:
    def __init__(self, parts: EnvironmentParts, node: str, hostname: str, disk_files: int, max_environments: int) -> None:
        self.id = node
        self.backend = parts.backend.name
        self._parts = parts
        self._hostname = hostname
        self._disk_files = disk_files
        self._max_environments = max_environments
        self._meter = _LoadMeter()

    def medium(self, disk_bytes: int) -> Medium:
        return self._parts.backend.medium(disk_bytes)

    async def open(self, resources: Resources, network: str = "") -> LocalEnvironment:
        return await LocalEnvironment.open(self._parts, resources.disk_bytes, self._disk_files, network)

    def usage(self) -> tuple[float, float]:
        return self._meter.shares()

    def describe(self, created_ms: int) -> Node:
        return Node(
            id=self.id,
            hostname=self._hostname,
            backend=self.backend,
            cpu_cores=float(os.cpu_count() or 1),
            memory_mb=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // MIB,
            max_boxes=self._max_environments,
            labels={OVERCOMMIT: "yes"},
            heartbeat_ms=created_ms,
            created_ms=created_ms,
        )


class _LoadMeter:
    """Shares of the machine in use: processors since the last measurement, memory at that moment.

    Measures at most once a second, because every new session reads it.
    """

    def __init__(self) -> None:
        self._seen = _cpu_ticks()
        self._at = 0.0
        self._cpu = self._memory = 0.0

    def shares(self) -> tuple[float, float]:
        if time.monotonic() - self._at >= _MEASURE_EVERY_S:
            self._measure()
        return self._cpu, self._memory

    def _measure(self) -> None:
        busy, total = _cpu_ticks()
        if total > self._seen[1]:
            self._cpu = min(1.0, max(0.0, (busy - self._seen[0]) / (total - self._seen[1])))
        self._seen, self._at, self._memory = (busy, total), time.monotonic(), _memory_share()


def _cpu_ticks() -> tuple[int, int]:
    with open("/proc/stat", encoding="ascii") as file:
        ticks = [int(word) for word in file.readline().split()[1:9]]
    return sum(ticks) - ticks[3] - ticks[4], sum(ticks)


def _memory_share() -> float:
    facts = {}
    with open("/proc/meminfo", encoding="ascii") as file:
        for line in file:
            name, _, rest = line.partition(":")
            facts[name] = int(rest.split()[0])
    return min(1.0, max(0.0, 1 - facts["MemAvailable"] / facts["MemTotal"]))
