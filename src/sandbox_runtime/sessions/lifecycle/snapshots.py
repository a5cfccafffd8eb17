"""What is kept of the files of persistent sessions: one snapshot of each, brought up to date after every execution."""

from __future__ import annotations

from collections import Counter

from sandbox_runtime.model import StorageKind
from sandbox_runtime.store import Store
from sandbox_runtime.workspace import Area
from sandbox_runtime.workspace.ledger import Charge, Ledger
from sandbox_runtime.workspace.snapshots import Snapshots as Snapshot
from sandbox_runtime.workspace.storage import Storage

FOLDERS = ("/workspace", "/home/sandbox")
"""The rest of a home is for what may be gone tomorrow."""
_PREFIX = "sessions/"
_MAX_LISTED = 10_000_000


class SessionSnapshots:
    """ledger: charged with what is kept, where the storage is on this machine."""

    def __init__(self, storage: Storage, ledger: Ledger) -> None:
        self._storage = storage
        self._ledger = ledger
        self._local = storage.name == "local"
        self._snapshots: dict[str, Snapshot] = {}
        self._charges: dict[str, Charge] = {}

    async def save(self, session: str, area: Area, owner: str) -> None:
        """Raises StorageFull or QuotaExceeded where there is no room for what has changed."""
        snapshot = self._snapshot(session)
        if not self._local:
            await snapshot.save(area)
            return
        charge = self._charge(session, owner)
        try:
            await snapshot.save(area, charge.resize)
        finally:
            charge.resize(snapshot.held_bytes, force=True)

    async def restore(self, session: str, area: Area) -> bool:
        return await self._snapshot(session).restore(area) is not None

    def size_bytes(self, session: str) -> int:
        charge = self._charges.get(session)
        return 0 if charge is None else charge.size_bytes

    async def drop(self, session: str) -> None:
        await self._snapshot(session).delete()
        self.forget(session)
        charge = self._charges.pop(session, None)
        if charge is not None:
            charge.release()

    def forget(self, session: str) -> None:
        """It has ended, and nothing more will be saved."""
        self._snapshots.pop(session, None)

    async def check(self) -> None:
        await self._storage.check()

    async def recount(self, store: Store) -> None:
        """Charge what an earlier server has kept."""
        if not self._local:
            return
        sizes: Counter[str] = Counter()
        for stored in await self._storage.list(_PREFIX, _MAX_LISTED):
            sizes[stored.key.removeprefix(_PREFIX).partition("/")[0]] += stored.size_bytes
        for session, size in sizes.items():
            row = await store.sessions.find(session)
            self._charge(session, row.owner if row is not None else "").resize(size, force=True)

    def _charge(self, session: str, owner: str) -> Charge:
        if session not in self._charges:
            self._charges[session] = self._ledger.open(StorageKind.snapshots, owner)
        return self._charges[session]

    def _snapshot(self, session: str) -> Snapshot:
        return self._snapshots.setdefault(session, Snapshot(self._storage, f"{_PREFIX}{session}", FOLDERS))
