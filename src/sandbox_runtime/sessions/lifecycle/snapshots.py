"""Snapshots of persistent sessions: one of each, updated after every execution."""

from __future__ import annotations

from collections import Counter

from sandbox_runtime.model import StorageKind
from sandbox_runtime.store import Store
from sandbox_runtime.workspace import Area
from sandbox_runtime.workspace.ledger import Charge, Ledger
from sandbox_runtime.workspace.snapshots import Snapshots as Snapshot
from sandbox_runtime.workspace.storage import Storage

FOLDERS = ("/workspace", "/home/sandbox")
"""Everything else in an environment is temporary."""
_PREFIX = "sessions/"
_MAX_LISTED = 10_000_000


class SessionSnapshots:
    """Charges the ledger with the size of snapshots if their storage is on this machine."""

    def __init__(self, storage: Storage, ledger: Ledger) -> None:
        self._storage = storage
        self._ledger = ledger
        self._local = storage.name == "local"
        self._snapshots: dict[str, Snapshot] = {}
        self._charges: dict[str, Charge] = {}

    async def save(self, session: str, area: Area, owner: str) -> None:
        """Save what has changed since the last time. Raises StorageFull or QuotaExceeded."""
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
        """Restore the files of a session. Return whether there was a snapshot."""
        return await self._snapshot(session).restore(area) is not None

    def size_bytes(self, session: str) -> int:
        """Return the size of a snapshot; 0 if it is unknown or stored elsewhere."""
        charge = self._charges.get(session)
        return 0 if charge is None else charge.size_bytes

    async def drop(self, session: str) -> None:
        """Delete the snapshot of a session."""
        await self._snapshot(session).delete()
        self.forget(session)
        charge = self._charges.pop(session, None)
        if charge is not None:
            charge.release()

    def forget(self, session: str) -> None:
        """Forget a session that has ended. Its snapshot is kept."""
        self._snapshots.pop(session, None)

    async def check(self) -> None:
        """Raise if nothing can be saved now."""
        await self._storage.check()

    async def recount(self, store: Store) -> None:
        """Charge the snapshots that earlier servers have saved."""
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
