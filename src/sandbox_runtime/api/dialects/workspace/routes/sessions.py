"""Create, delete, list and clean up sessions."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from fastapi import APIRouter, Request
from fastapi.responses import Response

from sandbox_runtime.api.caller import owner_of
from sandbox_runtime.api.dialects.workspace.mapping import answers
from sandbox_runtime.api.dialects.workspace.responses import implicit_session, read_body, respond, route_options
from sandbox_runtime.api.dialects.workspace.schemas import CleanUpRequest, Json, WorkspaceResponse, WorkspaceSessionRequest
from sandbox_runtime.api.requests import platform_of
from sandbox_runtime.errors import SandboxError
from sandbox_runtime.model import ExecutionState, Session, SessionMode, SessionState
from sandbox_runtime.sessions import Sessions
from sandbox_runtime.store import ExecutionFilter, SessionFilter

MAX_LISTED = 1000
_MAX_CONCURRENT_DELETES = 8
_PAGE_SIZE = 100
_LIVE = SessionFilter(states=(SessionState.creating, SessionState.running, SessionState.paused), mode=SessionMode.ephemeral)
_BUSY = (ExecutionState.pending, ExecutionState.running)

router = APIRouter()


@router.post("/session/{session_id}", **route_options(WorkspaceSessionRequest, WorkspaceResponse))
async def create(request: Request, session_id: str) -> Response:
    """Create a session. A session of this name that has ended is replaced."""

    async def work() -> Json:
        body = await read_body(request, WorkspaceSessionRequest, optional=True)
        return answers.created_body(await implicit_session(request, session_id).create(body))

    return await respond(work())


@router.delete("/session/{session_id}", **route_options(response=WorkspaceResponse))
async def delete(request: Request, session_id: str) -> Response:
    """End a session and delete its files and records."""

    async def work() -> Json:
        session = implicit_session(request, session_id)
        await session.sessions.delete(session.id, session.owner)
        plain = {"status": "success"}
        return answers.envelope(plain, data={**plain, "message": "Session closed successfully"})

    return await respond(work())


@router.get("/status/{session_id}", **route_options(response=WorkspaceResponse))
async def status(request: Request, session_id: str) -> Response:
    """Return the session and the top-level files of its workspace. The session is created if it is missing."""

    async def work() -> Json:
        session = implicit_session(request, session_id)
        running = await session.running()
        files = await session.call(lambda: session.sessions.files.open(session.id, session.owner))
        return answers.status_body(running, (await files.list(leave_out=answers.HIDDEN_FILES)).entries)

    return await respond(work())


@router.get("/workspaces", **route_options(response=WorkspaceResponse))
async def workspaces(request: Request) -> Response:
    """List the caller's sessions that have not ended."""

    async def work() -> Json:
        sessions = platform_of(request).sessions
        return answers.workspaces_body([session async for session in _live_sessions(sessions, owner_of(request))])

    return await respond(work())


@router.post("/cleanup-all", **route_options(CleanUpRequest, WorkspaceResponse))
async def clean_up(request: Request) -> Response:
    """End the caller's sessions, except persistent ones and, unless `force` is true, those with running executions."""

    async def work() -> Json:
        body = await read_body(request, CleanUpRequest, optional=True)
        sessions, owner = platform_of(request).sessions, owner_of(request)
        summary = await _delete_all(sessions, owner, force=body.force)
        return {**answers.envelope(summary), "success": summary["success"]}  # here a count, as in the plain form

    return await respond(work())


async def _live_sessions(sessions: Sessions, owner: str) -> AsyncIterator[Session]:
    for offset in range(0, MAX_LISTED, _PAGE_SIZE):
        page = await sessions.list(_LIVE, _PAGE_SIZE, offset, owner)
        for session in page.items:
            yield session
        if len(page.items) < _PAGE_SIZE:
            return


async def _delete_all(sessions: Sessions, owner: str, *, force: bool) -> Json:
    names = [session.id async for session in _live_sessions(sessions, owner)]
    summary: Json = {"total": len(names), "success": 0, "failed": [], "skipped": []}
    slots = asyncio.Semaphore(_MAX_CONCURRENT_DELETES)

    async def delete_one(name: str) -> None:
        async with slots:
            if not force and await _is_busy(sessions, name, owner):
                summary["skipped"].append(name)
                return
            try:
                await sessions.delete(name, owner)
            except SandboxError:
                summary["failed"].append(name)
            else:
                summary["success"] += 1

    await asyncio.gather(*(delete_one(name) for name in names))
    return summary


async def _is_busy(sessions: Sessions, name: str, owner: str) -> bool:
    try:
        return (await sessions.executions.list(ExecutionFilter(session=name, states=_BUSY), 1, 0, owner)).total > 0
    except SandboxError:
        return False
