"""Sessions as this protocol sees them: names that are there whenever somebody uses them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from sandbox_runtime.api.caller import Caller
from sandbox_runtime.api.dialects.workspace.mapping.requests import session_spec
from sandbox_runtime.api.dialects.workspace.schemas import CreateSession
from sandbox_runtime.assembly import Platform
from sandbox_runtime.errors import Conflict, NotFound, PlatformFault
from sandbox_runtime.model import Session, SessionState
from sandbox_runtime.sessions import Sessions, SessionSpec

READY_WITHIN_S = 30.0
_LOOK_AGAIN_S = 0.02
_TRIES = 8

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Room:
    """One session of one caller, whether it is there or not."""

    platform: Platform
    id: str
    caller: Caller

    @property
    def owner(self) -> str:
        return self.caller.owner

    @property
    def sessions(self) -> Sessions:
        return self.platform.sessions

    async def create(self, asked: CreateSession) -> Session:
        """Create the session. Raise Conflict if the caller has it, NotFound if another owner has the name. One that has ended is
        replaced."""
        spec = session_spec(self.id, asked, self.platform.settings)
        try:
            return await self._created(spec)
        except Conflict:
            await self._check_owner()
            if not await self._cleared():
                raise Conflict("Session already exists") from None
        return await self._created(spec)

    async def use(self, work: Callable[[], Awaitable[Result]]) -> Result:
        """What the work returns, which fails with NotFound or Conflict where the session is not there: then it is made first.
        Others may make it or end it at the same time, hence more than one try."""
        for attempt in range(_TRIES):
            try:
                return await work()
            except (NotFound, Conflict):
                await self._make()
            # Whoever makes it has the name before anything of it can be seen.
            await asyncio.sleep(_LOOK_AGAIN_S * 2**attempt if attempt else 0)
        raise Conflict(f"the session {self.id!r} cannot be had: it ends again and again")

    async def session(self) -> Session:
        """Running, and made if need be."""
        return await self.use(self._running)

    async def _make(self) -> None:
        if self.caller.grants.read_only:
            raise NotFound(f"there is no session {self.id!r}, and a key with the scope read cannot create one")
        try:
            await self.create(CreateSession())
        except Conflict:
            await self._until_ready()

    async def _created(self, spec: SessionSpec) -> Session:
        return await self.sessions.create(spec, self.owner, most=self.caller.grants.max_sessions)

    async def _running(self) -> Session:
        session = await self.sessions.get(self.id, self.owner)
        if session.state is not SessionState.running:
            raise Conflict(f"the session {self.id!r} is {session.state}")
        return session

    async def _until_ready(self) -> None:
        """Wait for a session of this owner that another request creates at this moment."""
        await self._check_owner()
        if await self._state() is SessionState.paused:
            raise Conflict(f"the session {self.id!r} is paused: resume it first")
        deadline = asyncio.get_running_loop().time() + READY_WITHIN_S
        while await self._state() is SessionState.creating:
            if asyncio.get_running_loop().time() > deadline:
                raise PlatformFault(f"the session {self.id!r} was not ready within {READY_WITHIN_S:g} s")
            await asyncio.sleep(_LOOK_AGAIN_S)

    async def _cleared(self) -> bool:
        """Whether the name may be free now: what had it has ended, and is forgotten."""
        state = await self._state()
        if state is None or not state.ended:
            return False
        with contextlib.suppress(NotFound, Conflict):  # somebody else was faster
            await self.sessions.delete(self.id, self.owner, only_ended=True)
        return True

    async def _check_owner(self) -> None:
        """Raise NotFound if another owner has a session of this name, with the words for one that does not exist."""
        try:
            owner = (await self.sessions.get(self.id)).owner
        except NotFound:
            return  # it was deleted meanwhile
        if self.owner not in ("", owner):
            raise NotFound(f"there is no session {self.id!r}")

    async def _state(self) -> SessionState | None:
        """None where the caller has no such session."""
        try:
            return (await self.sessions.get(self.id, self.owner)).state
        except NotFound:
            return None
