"""Sessions that are created when they are first used."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from sandbox_runtime.api.caller import Caller
from sandbox_runtime.api.dialects.workspace.mapping.requests import session_spec
from sandbox_runtime.api.dialects.workspace.schemas import WorkspaceSessionRequest
from sandbox_runtime.errors import Conflict, NotFound, PlatformFault
from sandbox_runtime.model import Session, SessionState
from sandbox_runtime.sessions import Sessions, SessionSpec

if TYPE_CHECKING:
    from sandbox_runtime.assembly import Platform

READY_TIMEOUT_S = 30.0
_POLL_S = 0.02
_MAX_ATTEMPTS = 8

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class ImplicitSession:
    """A session of one caller, which may not exist yet."""

    platform: Platform
    id: str
    caller: Caller

    @property
    def owner(self) -> str:
        return self.caller.owner

    @property
    def sessions(self) -> Sessions:
        return self.platform.sessions

    async def create(self, body: WorkspaceSessionRequest) -> Session:
        """Create the session, or replace it if it has ended.

        Raises Conflict if the caller has a session of this name that has not ended, and NotFound if another owner has the name.
        """
        spec = session_spec(self.id, body, self.platform.settings)
        try:
            return await self._create(spec)
        except Conflict:
            await self._check_owner()
            if not await self._delete_ended():
                raise Conflict("Session already exists") from None
        return await self._create(spec)

    async def call(self, operation: Callable[[], Awaitable[Result]]) -> Result:
        """Return what the operation returns. If it raises NotFound or Conflict, create the session and try again.

        Concurrent requests may create or end the session too, hence more than one attempt.
        """
        for attempt in range(_MAX_ATTEMPTS):
            try:
                return await operation()
            except (NotFound, Conflict):
                await self._create_default()
            # A concurrent request holds the name before its session can be found.
            await asyncio.sleep(_POLL_S * 2**attempt if attempt else 0)
        raise Conflict(f"the session {self.id!r} is not available: it keeps ending")

    async def running(self) -> Session:
        """Return the session in state running. Create it if needed."""
        return await self.call(self._get_running)

    async def _create_default(self) -> None:
        if self.caller.grants.read_only:
            raise NotFound(f"there is no session {self.id!r}, and a read-only key cannot create one")
        try:
            await self.create(WorkspaceSessionRequest())
        except Conflict:
            await self._wait_until_ready()

    async def _create(self, spec: SessionSpec) -> Session:
        return await self.sessions.create(spec, self.owner, max_sessions=self.caller.grants.max_sessions)

    async def _get_running(self) -> Session:
        session = await self.sessions.get(self.id, self.owner)
        if session.state is not SessionState.running:
            raise Conflict(f"the session {self.id!r} is {session.state}")
        return session

    async def _wait_until_ready(self) -> None:
        """Wait for a session of this owner that a concurrent request is creating."""
        await self._check_owner()
        if await self._state() is SessionState.paused:
            raise Conflict(f"the session {self.id!r} is paused: resume it first")
        deadline = asyncio.get_running_loop().time() + READY_TIMEOUT_S
        while await self._state() is SessionState.creating:
            if asyncio.get_running_loop().time() > deadline:
                raise PlatformFault(f"the session {self.id!r} was not ready within {READY_TIMEOUT_S:g} s")
            await asyncio.sleep(_POLL_S)

    async def _delete_ended(self) -> bool:
        """Delete the session if it has ended. Return whether the name may be free now."""
        state = await self._state()
        if state is None or not state.ended:
            return False
        with contextlib.suppress(NotFound, Conflict):  # a concurrent request has deleted or replaced it
            await self.sessions.delete(self.id, self.owner, only_ended=True)
        return True

    async def _check_owner(self) -> None:
        """Raise NotFound if another owner has a session of this name, with the message for one that does not exist."""
        try:
            owner = (await self.sessions.get(self.id)).owner
        except NotFound:
            return  # it was deleted meanwhile
        if self.owner not in ("", owner):
            raise NotFound(f"there is no session {self.id!r}")

    async def _state(self) -> SessionState | None:
        """Return the state, or None if the caller has no such session."""
        try:
            return (await self.sessions.get(self.id, self.owner)).state
        except NotFound:
            return None
