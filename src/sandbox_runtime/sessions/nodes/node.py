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

_LOOK_EVERY_S = 1.0


class Home(Protocol):
    """What one session has of a node. Several things may run in it at once."""

    closed: bool

    @property
    def files(self) -> Area: ...

    def used_bytes(self) -> int:
        """What its files take now. Raises OSError where it is closed."""
        ...

    def prepare(self) -> None:
        """Something will be run soon."""
        ...

    def check(self, request: RunRequest) -> PlannedRun:
        """Return what run() takes. Raises if the request cannot run."""
        ...

    async def run(self, planned: PlannedRun, sink: Sink | None = None) -> RunResult: ...

    async def command(self, command: Command, sink: Sink | None = None, network: Network | None = None) -> Outcome: ...

    async def open_context(self, limits: Limits, env: Mapping[str, str], modules: tuple[str, ...] = ()) -> Context: ...

    async def close_context(self, context: Context) -> None: ...

    def check_pause(self) -> None:
        """Raises Unavailable where what runs here cannot be paused."""
        ...

    async def pause(self) -> None:
        """Whatever runs there stands still, and so does its time: all of it, or nothing and PlatformFault."""
        ...

    def resume(self) -> None: ...

    async def close(self) -> None:
        """Idempotent. Afterwards nothing runs there, and the files are gone."""
        ...


class Host(Protocol):
    """A node that this server can open homes on."""

    id: str
    backend: str

    def medium(self, disk_bytes: int) -> Medium:
        """Where the files of a session with such a disk are."""
        ...

    async def open(self, resources: Resources, network: str = "") -> Home:
        """Raises Unavailable where this kind of node has no sessions, or no such network, PlatformFault where we failed."""
        ...

    def usage(self) -> tuple[float, float]:
        """Shares of processor and memory in use, 0 to 1."""
        ...

    def describe(self, created_ms: int) -> Node:
        """Its row, as it is noted for others."""
        ...


class LocalHost:
    def __init__(self, parts: EnvironmentParts, node: str, hostname: str, disk_files: int, max_homes: int) -> None:
        self.id = node
        self.backend = parts.backend.name
        self._parts = parts
        self._hostname = hostname
        self._disk_files = disk_files
        self._max_homes = max_homes
        self._meter = _Meter()

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
            max_boxes=self._max_homes,
            labels={OVERCOMMIT: "yes"},
            heartbeat_ms=created_ms,
            created_ms=created_ms,
        )


class _Meter:
    """Shares of the machine in use: of all processors since they were last looked at, of the memory at that moment. Looked at
    once a second at the most: every new session asks."""

    def __init__(self) -> None:
        self._seen = _cpu_ticks()
        self._at = 0.0
        self._cpu = self._memory = 0.0

    def shares(self) -> tuple[float, float]:
        if time.monotonic() - self._at >= _LOOK_EVERY_S:
            self._look()
        return self._cpu, self._memory

    def _look(self) -> None:
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
