"""What is kept of the files of persistent sessions: one snapshot of each, brought up to date after every execution."""

from __future__ import annotations

from sandbox_runtime.workspace import Area
from sandbox_runtime.workspace.snapshots import Snapshots as Snapshot
from sandbox_runtime.workspace.storage import Storage

FOLDERS = ("/workspace", "/home/sandbox")
"""The rest of a home is for what may be gone tomorrow."""


class KeptFiles:
    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._known: dict[str, Snapshot] = {}

    async def save(self, session: str, area: Area) -> None:
        await self._of(session).save(area)

    async def restore(self, session: str, area: Area) -> bool:
        return await self._of(session).restore(area) is not None

    async def drop(self, session: str) -> None:
        await self._of(session).delete()
        self.forget(session)

    def forget(self, session: str) -> None:
        """It has ended, and nothing more will be saved."""
        self._known.pop(session, None)

    async def check(self) -> None:
        await self._storage.check()

    def _of(self, session: str) -> Snapshot:
        return self._known.setdefault(session, Snapshot(self._storage, f"sessions/{session}", FOLDERS))
