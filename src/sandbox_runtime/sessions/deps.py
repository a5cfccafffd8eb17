"""What every part of this room stands on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from sandbox_runtime.engine import Admission
from sandbox_runtime.sessions.executions.usage import UsageRecorder
from sandbox_runtime.sessions.nodes.node import Host
from sandbox_runtime.sessions.options import SessionOptions
from sandbox_runtime.sessions.registry import SessionRegistry
from sandbox_runtime.store import Store
from sandbox_runtime.telemetry import Log, SessionMetrics
from sandbox_runtime.workspace import Area
from sandbox_runtime.workspace.ledger import Ledger


class Snapshots(Protocol):
    """What is kept of the files of persistent sessions, by the session's id."""

    async def save(self, session: str, area: Area, owner: str) -> None:
        """What has changed since the last time. Afterwards it outlives this process. Raises StorageFull or QuotaExceeded."""
        ...

    async def restore(self, session: str, area: Area) -> bool:
        """Whether there was anything to restore."""
        ...

    def size_bytes(self, session: str) -> int:
        """What is kept of a session, as far as it is known; 0 where it lies elsewhere."""
        ...

    async def drop(self, session: str) -> None:
        """All that was kept."""
        ...

    def forget(self, session: str) -> None:
        """It has ended; what was kept stays."""
        ...

    async def check(self) -> None:
        """Raises where nothing could be kept now."""
        ...


@dataclass(frozen=True, slots=True)
class SessionDeps:
    """hosts: the nodes that this server opens homes on, by id."""

    store: Store
    options: SessionOptions
    registry: SessionRegistry
    hosts: Mapping[str, Host]
    snapshots: Snapshots
    admission: Admission
    metrics: SessionMetrics
    log: Log
    recorder: UsageRecorder
    ledger: Ledger
