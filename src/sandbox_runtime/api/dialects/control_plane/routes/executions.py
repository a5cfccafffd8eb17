"""Executions: submit, wait, look up and cancel, at the paths of both versions of the protocol."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import Query, Request, Response

from sandbox_runtime.api.dialects.control_plane.mapping import executions as mapping
from sandbox_runtime.api.dialects.control_plane.responses import error_response, json_response, new_router, returns
from sandbox_runtime.api.dialects.control_plane.routes.params import (
    Identifier,
    Limit,
    Offset,
    clamp_limit,
    idempotency_key,
    owner_of,
    sessions_of,
)
from sandbox_runtime.api.dialects.control_plane.schemas import executions as schemas
from sandbox_runtime.api.number_fields import Number
from sandbox_runtime.api.requests import platform_of
from sandbox_runtime.errors import NotFound
from sandbox_runtime.model import Artifact, Execution, ExecutionKind, ExecutionState
from sandbox_runtime.sessions import ExecutionSpec
from sandbox_runtime.store import ExecutionFilter

router = new_router("/executions", "executions")
session_router = new_router("/sessions", "executions")
_RETURNS_EXECUTION = returns(schemas.ExecutionResponse)
PollInterval = Annotated[Number, Query(ge=0.1, le=10, description="Ignored: the response is sent as soon as the execution ends.")]
SyncTimeout = Annotated[Number, Query(ge=10, le=3600)]


@router.post("/sessions/{session_id}/execute", status_code=201, responses=returns(schemas.SubmitResponse, 201))
async def submit(request: Request, session_id: Identifier, body: schemas.ExecuteCodeRequest) -> Response:
    """Submit code for execution. Returns its id immediately."""
    execution = await _submit(request, session_id, body)
    return execution if isinstance(execution, Response) else json_response(mapping.to_submit_response(execution), 201)


@session_router.post("/{session_id}/execute", responses=returns(schemas.SubmitResponse))
async def submit_to_session(request: Request, session_id: Identifier, body: schemas.ExecuteCodeRequest) -> Response:
    """Submit code for execution. The status is `pending`, or `submitted` once the execution has started."""
    execution = await _submit(request, session_id, body)
    if isinstance(execution, Response):
        return execution
    status = "pending" if execution.state is ExecutionState.pending else "submitted"
    return json_response(mapping.to_submit_response(execution).model_copy(update={"status": status}))


@router.post(
    "/sessions/{session_id}/execute-sync",
    responses=returns(
        schemas.ExecutionResponse,
        status_408="Timed out waiting. The execution continues; X-Execution-ID holds its id",
        status_409="The session is not running",
        status_429="Too many executions of this session are queued",
    ),
)
async def execute_and_wait(
    request: Request,
    session_id: Identifier,
    body: schemas.ExecuteCodeRequest,
    poll_interval: PollInterval = 0.5,
    sync_timeout: SyncTimeout = 300,
) -> Response:
    """Execute code and wait for the result. Returns 408 if it does not end within `sync_timeout` seconds; the execution continues
    and its result can be fetched later."""
    spec = _to_spec(request, body)
    if isinstance(spec, Response):
        return spec
    execution = await sessions_of(request).executions.run(session_id, spec, wait_s=sync_timeout, owner=owner_of(request))
    if not execution.state.ended:
        text = f"the execution {execution.id} did not end within {sync_timeout:g} s; it continues"
        return error_response(408, text, request.url.path, {"X-Execution-ID": execution.id})
    return await _full_response(request, execution)


@router.get("/sessions/{session_id}/executions", responses=returns(schemas.ExecutionList))
@session_router.get("/{session_id}/executions", responses=returns(schemas.ExecutionList))
async def list_executions(
    request: Request, session_id: Identifier, status: ExecutionState | None = None, limit: Limit = 50, offset: Offset = 0
) -> Response:
    """List the executions of a session, newest first."""
    filter_ = ExecutionFilter(session=session_id, states=None if status is None else (status,))
    page = await sessions_of(request).executions.list(filter_, clamp_limit(limit), offset, owner_of(request))
    return json_response(mapping.to_list(page))


@router.get("/{execution_id}", responses=_RETURNS_EXECUTION)
@router.get("/{execution_id}/status", responses=_RETURNS_EXECUTION)
@router.get("/{execution_id}/result", responses=_RETURNS_EXECUTION)
async def get_execution(request: Request, execution_id: Identifier) -> Response:
    """Return an execution with its output and result so far."""
    return await _full_response(request, await sessions_of(request).executions.get(execution_id, owner_of(request)))


@router.post("/{execution_id}/cancel", responses=_RETURNS_EXECUTION)
async def cancel_execution(request: Request, execution_id: Identifier) -> Response:
    """Cancel an execution. Has no effect if it has ended."""
    return await _full_response(request, await sessions_of(request).executions.cancel(execution_id, owner_of(request)))


@session_router.get("/{session_id}/status", responses=returns(schemas.ExecutionStatus))
async def session_status(request: Request, session_id: Identifier, execution_id: str | None = None) -> Response:
    """Return the status of a session's latest execution, or of `execution_id`."""
    return json_response(mapping.to_status(await _find_execution(request, session_id, execution_id)))


@session_router.get("/{session_id}/result", responses=returns(schemas.ExecutionResult))
@session_router.get("/{session_id}/results", responses=returns(schemas.ExecutionResult))
async def session_result(request: Request, session_id: Identifier, execution_id: str | None = None) -> Response:
    """Return the result of a session's latest execution, or of `execution_id`."""
    execution = await _find_execution(request, session_id, execution_id)
    artifacts = await sessions_of(request).executions.artifacts(execution.id, owner_of(request))
    return json_response(mapping.to_result(execution, artifacts))


async def _submit(request: Request, session_id: str, body: schemas.ExecuteCodeRequest) -> Execution | Response:
    spec = _to_spec(request, body)
    if isinstance(spec, Response):
        return spec
    return await sessions_of(request).executions.submit(session_id, spec, owner_of(request))


def _to_spec(request: Request, body: schemas.ExecuteCodeRequest) -> ExecutionSpec | Response:
    spec = mapping.to_spec(body, idempotency_key(request))
    try:
        platform_of(request).catalog.find(spec.language)
    except NotFound as error:
        problem = {"loc": ["body", "language"], "msg": str(error), "type": "value_error"}
        return error_response(422, str(error), request.url.path, detail=[problem])
    return spec


async def _find_execution(request: Request, session_id: str, execution_id: str | None) -> Execution:
    sessions, owner = sessions_of(request), owner_of(request)
    if not execution_id:
        return await sessions.executions.latest(session_id, owner)
    execution = await sessions.executions.get(execution_id, owner)
    if execution.session != session_id:
        raise NotFound(f"the session {session_id!r} has no execution {execution_id!r}")
    return execution


async def _full_response(request: Request, execution: Execution) -> Response:
    artifacts: tuple[Artifact, ...] = ()
    if execution.state.ended and execution.kind is not ExecutionKind.cell:
        artifacts = await sessions_of(request).executions.artifacts_of(execution)
    model = mapping.to_response(execution, artifacts)
    # Encoding much output as JSON would block the event loop.
    large = execution.text_bytes > 256 * 1024
    return await asyncio.to_thread(json_response, model) if large else json_response(model)
