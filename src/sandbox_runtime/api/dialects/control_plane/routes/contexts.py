"""Contexts: interpreters of a session that keep their variables between executions."""

from __future__ import annotations

from fastapi import Request, Response

from sandbox_runtime.api.dialects.control_plane.mapping import executions as mapping
from sandbox_runtime.api.dialects.control_plane.responses import error_response, json_response, new_router, returns
from sandbox_runtime.api.dialects.control_plane.routes.params import Identifier, idempotency_key, owner_of, sessions_of
from sandbox_runtime.api.dialects.control_plane.schemas import executions as schemas

router = new_router("/sessions/{session_id}/contexts", "contexts")
_RETURNS_CONTEXT = returns(schemas.ContextResponse)
_KILL_GRACE_S = 30.0
"""Waited beyond the timeout of an execution, because killing an interpreter takes a while."""


@router.post("", status_code=201, responses=returns(schemas.ContextResponse, 201))
async def open_context(request: Request, session_id: Identifier) -> Response:
    """Start a Python interpreter that keeps its variables between executions."""
    return json_response(mapping.to_context(await sessions_of(request).contexts.open(session_id, owner_of(request))), 201)


@router.get("", responses=returns(schemas.ContextList))
async def list_contexts(request: Request, session_id: Identifier) -> Response:
    """List the interpreters of a session."""
    views = [mapping.to_context(view) for view in await sessions_of(request).contexts.list(session_id, owner_of(request))]
    return json_response(schemas.ContextList(contexts=views, total=len(views)))


@router.post("/{context_id}/execute", responses=returns(schemas.ExecutionResponse))
async def execute_in_context(
    request: Request, session_id: Identifier, context_id: Identifier, body: schemas.ExecuteInContextRequest, wait: bool = True
) -> Response:
    """Run code in an interpreter. With wait=false, return 202 immediately; fetch output and result as for any execution."""
    sessions, owner = sessions_of(request), owner_of(request)
    spec = mapping.to_cell_spec(body, context_id, idempotency_key(request))
    if not wait:
        return json_response(mapping.to_submit_response(await sessions.executions.submit(session_id, spec, owner)), 202)
    execution = await sessions.executions.run(session_id, spec, wait_s=body.timeout + _KILL_GRACE_S, owner=owner)
    if not execution.state.ended:
        text = f"the execution {execution.id} is still queued; it continues"
        return error_response(408, text, request.url.path, {"X-Execution-ID": execution.id})
    return json_response(mapping.to_response(execution))


@router.post("/{context_id}/interrupt", responses=_RETURNS_CONTEXT)
async def interrupt_context(request: Request, session_id: Identifier, context_id: Identifier) -> Response:
    """Interrupt the code running in an interpreter, as Ctrl-C does."""
    view = await sessions_of(request).contexts.interrupt(session_id, context_id, owner_of(request))
    return json_response(mapping.to_context(view))


@router.post("/{context_id}/restart", responses=_RETURNS_CONTEXT)
async def restart_context(request: Request, session_id: Identifier, context_id: Identifier) -> Response:
    """Replace an interpreter by a new one with the same id. Its variables are lost."""
    view = await sessions_of(request).contexts.restart(session_id, context_id, owner_of(request))
    return json_response(mapping.to_context(view))


@router.delete("/{context_id}", status_code=204)
async def close_context(request: Request, session_id: Identifier, context_id: Identifier) -> Response:
    """Stop an interpreter."""
    await sessions_of(request).contexts.close(session_id, context_id, owner_of(request))
    return Response(status_code=204)
