"""Sessions: create, list, pause, fork and end them."""

from __future__ import annotations

from fastapi import Request, Response

from sandbox_runtime.api.dialects.control_plane.mapping import sessions as mapping
from sandbox_runtime.api.dialects.control_plane.responses import error_response, json_response, new_router, returns
from sandbox_runtime.api.dialects.control_plane.routes.params import (
    Identifier,
    Limit,
    Offset,
    caller_of,
    clamp_limit,
    owner_of,
    sessions_of,
)
from sandbox_runtime.api.dialects.control_plane.schemas import sessions as schemas
from sandbox_runtime.errors import InvalidRequest, NotFound
from sandbox_runtime.model import SessionMode, SessionState
from sandbox_runtime.store import SessionFilter

router = new_router("/sessions", "sessions")
_RETURNS_SESSION = returns(schemas.SessionResponse)


@router.post(
    "",
    status_code=201,
    responses=returns(
        schemas.SessionResponse,
        201,
        status_400="Unknown template, or a limit is exceeded",
        status_409="The id is taken, or the template is inactive",
        status_429="The session limit of the server or of the owner is reached",
    ),
)
async def create_session(request: Request, body: schemas.CreateSessionRequest) -> Response:
    """Create a session from a template. Returns 400 for an invalid request and 409 if the id is taken."""
    sessions, caller = sessions_of(request), caller_of(request)
    try:
        template = await sessions.templates.get_active(body.template_id)
        spec = mapping.to_spec(body, template)
        session = await sessions.create(spec, caller.owner, max_sessions=caller.grants.max_sessions)
    except (InvalidRequest, NotFound) as error:
        return error_response(400, str(error), request.url.path)
    return json_response(mapping.to_response(session), 201)


@router.get("", responses=returns(schemas.SessionList))
async def list_sessions(
    request: Request,
    status: SessionState | None = None,
    template_id: str | None = None,
    agent_id: str | None = None,
    mode: SessionMode | None = None,
    limit: Limit = 50,
    offset: Offset = 0,
) -> Response:
    """List the caller's sessions, newest first."""
    states = None if status is None else (status,)
    filter_ = SessionFilter(states=states, template=template_id, agent=agent_id, mode=mode)
    page = await sessions_of(request).list(filter_, clamp_limit(limit), offset, owner_of(request))
    return json_response(mapping.to_list(page))


@router.get("/{session_id}", responses=_RETURNS_SESSION)
async def get_session(request: Request, session_id: Identifier) -> Response:
    """Return a session."""
    return json_response(mapping.to_response(await sessions_of(request).get(session_id, owner_of(request))))


@router.post("/{session_id}/terminate", responses=_RETURNS_SESSION)
async def terminate_session(request: Request, session_id: Identifier) -> Response:
    """End a session and everything running in it. The session and its results can still be read."""
    return json_response(mapping.to_response(await sessions_of(request).terminate(session_id, owner_of(request))))


@router.delete("/{session_id}", status_code=204)
async def delete_session(request: Request, session_id: Identifier) -> Response:
    """End a session and delete it with its executions and files."""
    await sessions_of(request).delete(session_id, owner_of(request))
    return Response(status_code=204)


@router.post("/{session_id}/pause", responses=_RETURNS_SESSION)
async def pause_session(request: Request, session_id: Identifier) -> Response:
    """Freeze everything running in a session."""
    return json_response(mapping.to_response(await sessions_of(request).pause(session_id, owner_of(request))))


@router.post("/{session_id}/resume", responses=_RETURNS_SESSION)
async def resume_session(request: Request, session_id: Identifier) -> Response:
    """Resume a paused session."""
    return json_response(mapping.to_response(await sessions_of(request).resume(session_id, owner_of(request))))


@router.post("/{session_id}/dependencies/install", responses=_RETURNS_SESSION)
async def install_dependencies(request: Request, session_id: Identifier, body: schemas.InstallRequest) -> Response:
    """Install packages into a session and wait for the end: Python packages, or npm packages if its template is for Node.js."""
    session = await sessions_of(request).install(
        session_id,
        mapping.to_dependencies(body.dependencies),
        index_url=body.python_package_index_url or "",
        timeout_s=float(body.install_timeout),
        owner=owner_of(request),
    )
    return json_response(mapping.to_response(session))


@router.post("/{session_id}/fork", status_code=201, responses=returns(schemas.ForkResponse, 201))
async def fork_session(request: Request, session_id: Identifier, body: schemas.ForkRequest | None = None) -> Response:
    """Copy a live session with the current state of its files and interpreters."""
    caller, count = caller_of(request), 1 if body is None else body.count
    forks = await sessions_of(request).fork(session_id, count, caller.owner, max_sessions=caller.grants.max_sessions)
    copies = [mapping.to_response(session) for session in forks]
    return json_response(schemas.ForkResponse(session_id=session_id, sessions=copies, count=len(copies)), 201)
