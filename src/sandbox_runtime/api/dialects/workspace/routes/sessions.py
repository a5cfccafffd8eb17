"""Sessions: made, deleted, listed, looked at, all cleaned up."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from fastapi import APIRouter, Request
from fastapi.responses import Response

from sandbox_runtime.api.caller import owner_of
from sandbox_runtime.api.dialects.workspace.mapping import answers
from sandbox_runtime.api.dialects.workspace.responses import answered, described, message, room_of
from sandbox_runtime.api.dialects.workspace.schemas import Answer, CleanUp, CreateSession, Json
from sandbox_runtime.api.requests import platform_of
from sandbox_runtime.errors import SandboxError
from sandbox_runtime.model import ExecutionState, Session, SessionMode, SessionState
from sandbox_runtime.sessions import Sessions
from sandbox_runtime.store import ExecutionFilter, SessionFilter

MOST_LISTED = 1000
_AT_ONCE = 8
_PAGE = 100
_LIVE = SessionFilter(states=(SessionState.creating, SessionState.running, SessionState.paused), mode=SessionMode.ephemeral)
_BUSY = (ExecutionState.pending, ExecutionState.running)

router = APIRouter()


@router.post("/session/{session_id}", **described(CreateSession, Answer))
async def create(request: Request, session_id: str) -> Response:
    """Make a session with room for so many files."""

    async def work() -> Json:
        asked = await message(request, CreateSession, optional=True)
        return answers.created(await room_of(request, session_id).create(asked))

    return await answered(work())


@router.delete("/session/{session_id}", **described(answer=Answer))
async def delete(request: Request, session_id: str) -> Response:
    """End a session; nothing of it stays."""

    async def work() -> Json:
        room = room_of(request, session_id)
        await room.sessions.delete(room.id, room.owner)
        plain = {"status": "success"}
        return answers.enveloped(plain, data={**plain, "message": "Session closed successfully"})

    return await answered(work())


@router.get("/status/{session_id}", **described(answer=Answer))
async def status(request: Request, session_id: str) -> Response:
    """What the session is, and the files directly in its workspace."""

    async def work() -> Json:
        room = room_of(request, session_id)
        session = await room.session()
        files = await room.use(lambda: room.sessions.files(room.id, room.owner))
        return answers.status(session, (await files.list(leave_out=answers.HIDDEN)).entries)

    return await answered(work())


@router.get("/workspaces", **described(answer=Answer))
async def workspaces(request: Request) -> Response:
    """The caller's sessions that have not ended."""

    async def work() -> Json:
        sessions = platform_of(request).sessions
        return answers.workspaces([one async for one in _live(sessions, owner_of(request))])

    return await answered(work())


@router.post("/cleanup-all", **described(CleanUp, Answer))
async def clean_up(request: Request) -> Response:
    """End the caller's sessions, except those that are persistent and, without force, those in which something runs."""

    async def work() -> Json:
        asked = await message(request, CleanUp, optional=True)
        sessions, owner = platform_of(request).sessions, owner_of(request)
        told = await _clean_up(sessions, owner, force=asked.force)
        return {**answers.enveloped(told), "success": told["success"]}  # a count here, as the plain form has it

    return await answered(work())


async def _live(sessions: Sessions, owner: str) -> AsyncIterator[Session]:
    for offset in range(0, MOST_LISTED, _PAGE):
        page = await sessions.list(_LIVE, _PAGE, offset, owner)
        for session in page.items:
            yield session
        if len(page.items) < _PAGE:
            return


async def _clean_up(sessions: Sessions, owner: str, *, force: bool) -> Json:
    names = [session.id async for session in _live(sessions, owner)]
    told: Json = {"total": len(names), "success": 0, "failed": [], "skipped": []}
    places = asyncio.Semaphore(_AT_ONCE)

    async def end(name: str) -> None:
        async with places:
            if not force and await _busy(sessions, name, owner):
                told["skipped"].append(name)
                return
            try:
                await sessions.delete(name, owner)
            except SandboxError:
                told["failed"].append(name)
            else:
                told["success"] += 1

    await asyncio.gather(*(end(name) for name in names))
    return told


async def _busy(sessions: Sessions, name: str, owner: str) -> bool:
    try:
        return (await sessions.executions(ExecutionFilter(session=name, states=_BUSY), 1, 0, owner)).total > 0
    except SandboxError:
        return False
