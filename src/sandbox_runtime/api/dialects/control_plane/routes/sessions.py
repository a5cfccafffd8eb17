"""Sessions: made, listed, ended, copied."""

from __future__ import annotations

from fastapi import Request, Response

from sandbox_runtime.api.dialects.control_plane.mapping import sessions as translation
from sandbox_runtime.api.dialects.control_plane.responses import answer, refusal, returns, router
from sandbox_runtime.api.dialects.control_plane.routes.params import (
    Identifier,
    Limit,
    Offset,
    caller_of,
    clamped,
    owner_of,
    sessions_of,
)
from sandbox_runtime.api.dialects.control_plane.schemas import sessions as wire
from sandbox_runtime.errors import InvalidRequest, NotFound
from sandbox_runtime.model import SessionMode, SessionState
from sandbox_runtime.store import SessionFilter

routes = router("/sessions", "sessions")
_ONE = returns(wire.SessionResponse)


@routes.post(
    "",
    status_code=201,
    responses=returns(
        wire.SessionResponse,
        201,
        status_400="The template is unknown, or what was asked for is over a bound",
        status_409="A session of that id exists, or the template is switched off",
        status_429="There are as many sessions as there may be, here or of this owner",
    ),
)
async def create_session(request: Request, asked: wire.CreateSessionRequest) -> Response:
    """Make a session from a template. Whatever cannot be made as it was asked for is 400; an id that is taken is 409."""
    sessions, caller = sessions_of(request), caller_of(request)
    try:
        template = await sessions.templates.get_active(asked.template_id)
        spec = translation.spec_of(asked, template)
        made = await sessions.create(spec, caller.owner, max_sessions=caller.grants.max_sessions)
    except (InvalidRequest, NotFound) as error:
        return refusal(400, str(error), request.url.path)
    return answer(translation.answer_of(made), 201)


@routes.get("", responses=returns(wire.SessionList))
async def list_sessions(
    request: Request,
    status: SessionState | None = None,
    template_id: str | None = None,
    agent_id: str | None = None,
    mode: SessionMode | None = None,
    limit: Limit = 50,
    offset: Offset = 0,
) -> Response:
    """The sessions of the caller, newest first."""
    states = None if status is None else (status,)
    wanted = SessionFilter(states=states, template=template_id, agent=agent_id, mode=mode)
    page = await sessions_of(request).list(wanted, clamped(limit), offset, owner_of(request))
    return answer(translation.page_of(page))


@routes.get("/{session_id}", responses=_ONE)
async def get_session(request: Request, session_id: Identifier) -> Response:
    """One session."""
    return answer(translation.answer_of(await sessions_of(request).get(session_id, owner_of(request))))


@routes.post("/{session_id}/terminate", responses=_ONE)
async def terminate_session(request: Request, session_id: Identifier) -> Response:
    """End a session and whatever runs in it; its row and its results stay."""
    return answer(translation.answer_of(await sessions_of(request).terminate(session_id, owner_of(request))))


@routes.delete("/{session_id}", status_code=204)
async def delete_session(request: Request, session_id: Identifier) -> Response:
    """End a session; nothing of it stays: row, executions, files."""
    await sessions_of(request).delete(session_id, owner_of(request))
    return Response(status_code=204)


@routes.post("/{session_id}/pause", responses=_ONE)
async def pause_session(request: Request, session_id: Identifier) -> Response:
    """Stop everything that runs in a session where it is."""
    return answer(translation.answer_of(await sessions_of(request).pause(session_id, owner_of(request))))


@routes.post("/{session_id}/resume", responses=_ONE)
async def resume_session(request: Request, session_id: Identifier) -> Response:
    """Let what was paused go on."""
    return answer(translation.answer_of(await sessions_of(request).resume(session_id, owner_of(request))))


@routes.post("/{session_id}/dependencies/install", responses=_ONE)
async def install_dependencies(request: Request, session_id: Identifier, asked: wire.InstallRequest) -> Response:
    """Install packages into a session: Python packages, or npm packages where its template is for Node.js. Returns when it is
    done."""
    session = await sessions_of(request).install(
        session_id,
        translation.dependencies_of(asked.dependencies),
        index_url=asked.python_package_index_url or "",
        timeout_s=float(asked.install_timeout),
        owner=owner_of(request),
    )
    return answer(translation.answer_of(session))


@routes.post("/{session_id}/fork", status_code=201, responses=returns(wire.ForkResponse, 201))
async def fork_session(request: Request, session_id: Identifier, asked: wire.ForkRequest | None = None) -> Response:
    """Copy a live session, with its files and its interpreters as they are now."""
    caller, count = caller_of(request), 1 if asked is None else asked.count
    made = await sessions_of(request).fork(session_id, count, caller.owner, max_sessions=caller.grants.max_sessions)
    copies = [translation.answer_of(session) for session in made]
    return answer(wire.ForkResponse(session_id=session_id, sessions=copies, count=len(copies)), 201)
