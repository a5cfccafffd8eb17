"""Measures every open session repeatedly, because programs write without asking.

A measurement is one system call per session. While a limit of the storage ledger is exceeded, new sessions, executions and
uploads are refused elsewhere; this watcher stops executions in sessions that grow.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from sandbox_runtime.model import StorageKind
from sandbox_runtime.sessions.deps import SessionDeps
from sandbox_runtime.sessions.maintenance.storage import measure
from sandbox_runtime.sessions.registry import LiveSession
from sandbox_runtime.workspace.ledger import PLATFORM

if TYPE_CHECKING:
    from sandbox_runtime.sessions.executions.executor import Executor

WATCH_EVERY_S = 1.0
STOPPED = "it was stopped: no storage is left"


class StorageWatcher:
    def __init__(self, deps: SessionDeps, executor: Executor) -> None:
        self._deps = deps
        self._executor = executor
        self._outputs = deps.ledger.open(StorageKind.outputs, PLATFORM)

    async def round(self) -> int:
        """Measure every open session and stop executions in those that grow without storage left. Return their number."""
        await asyncio.to_thread(self._deps.ledger.refresh)
        self._outputs.resize(self._executor.output_bytes, force=True)
        grown = [live for live in list(self._deps.registry.open.values()) if measure(self._deps, live) > 0]
        full = [live for live in grown if live.executions and self._is_full(live)]
        for live in full:
            self._deps.log.warning("a session was stopped: no storage is left", session=live.id, owner=live.session.owner)
        await asyncio.gather(*(self._executor.stop_all(live, STOPPED) for live in full))
        return len(full)

    def _is_full(self, live: LiveSession) -> bool:
        charge = self._deps.registry.charges.get(live.id)
        return charge is not None and self._deps.ledger.is_over(charge.owner, charge.medium)
