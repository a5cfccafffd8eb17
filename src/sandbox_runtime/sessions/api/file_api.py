"""Files of sessions, as clients use them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sandbox_runtime.model import FileRecord, SessionMode, StorageKind
from sandbox_runtime.sessions.audit import entry
from sandbox_runtime.sessions.deps import SessionDeps
from sandbox_runtime.sessions.executions.usage import absolute_path
from sandbox_runtime.sessions.maintenance import storage
from sandbox_runtime.sessions.registry import LiveSession
from sandbox_runtime.store import Page
from sandbox_runtime.workspace.ledger import Charge
from sandbox_runtime.workspace.session_files import FileBounds, SessionFiles

if TYPE_CHECKING:
    from sandbox_runtime.sessions.lifecycle.lifecycle import Lifecycle


class FileApi:
    def __init__(self, deps: SessionDeps, lifecycle: Lifecycle, bounds: FileBounds) -> None:
        self._deps = deps
        self._live_sessions = lifecycle.live_sessions
        self._bounds = bounds

    async def open(self, session_id: str, owner: str = "") -> SessionFiles:
        """Return the files of a session. Call `save` after changing them: a persistent session keeps only what was saved."""
        live = await self._live_sessions.get(session_id, owner)
        live.touch()
        observer = self._deps.recorder.file_recorder(session_id)
        return SessionFiles(live.environment.files, self._bounds, observer=observer, quota=_SessionQuota(self._deps, live))

    async def digest(self, session_id: str, owner: str = "") -> str:
        """Return a digest of names, modes and bytes of all files that programs can write.

        Raises InvalidRequest if there are more files than are read for it.
        """
        live = await self._live_sessions.get(session_id, owner)
        async with live.digest_lock:
            return await SessionFiles(live.environment.files, self._bounds).digest(live.digests)

    async def save(self, session_id: str, owner: str = "") -> None:
        """Save files that a client changed: a persistent session keeps them in its snapshot."""
        live = await self._live_sessions.get(session_id, owner)
        if live.session.mode is SessionMode.persistent:
            await self._deps.snapshots.save(session_id, live.environment.files, live.session.owner)
        await self._deps.store.audit.add(entry(owner, "change files", "session", session_id, owner=live.session.owner))

    async def versions(self, session_id: str, name: str, owner: str = "") -> tuple[FileRecord, ...]:
        """Return the versions of an uploaded file, the newest first. Files that a program wrote have none."""
        await self._deps.find_session(session_id, owner)
        await self._deps.recorder.write()
        return await self._deps.store.files.versions(session_id, absolute_path(name))

    async def uploads(self, session_id: str, owner: str = "", limit: int = 1000, offset: int = 0) -> Page[FileRecord]:
        """Return the uploaded files that were not deleted since."""
        await self._deps.find_session(session_id, owner)
        await self._deps.recorder.write()
        return await self._deps.store.files.list(session_id, limit, offset)


@dataclass(frozen=True, slots=True)
class _SessionQuota:
    """Charges uploads into a session to the storage ledger."""

    deps: SessionDeps
    live: LiveSession

    def check(self) -> None:
        storage.check_capacity(self.deps, self.live)

    def measure(self) -> None:
        storage.measure(self.deps, self.live)

    def open_upload(self) -> Charge:
        return self.deps.ledger.open(StorageKind.uploads, self.live.session.owner)
