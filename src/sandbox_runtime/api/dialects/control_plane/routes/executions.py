"""Executions: asked for, waited for, looked up, cancelled. The same verbs under the addresses of both forms."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import Query, Request, Response

from sandbox_runtime.api.dialects.control_plane.mapping import executions as translation
from sandbox_runtime.api.dialects.control_plane.responses import answer, refusal, returns, router
from sandbox_runtime.api.dialects.control_plane.routes.params import (
    Identifier,
    Limit,
    Offset,
    clamped,
    idempotency_key,
    owner_of,
    sessions_of,
)
from sandbox_runtime.api.dialects.control_plane.schemas import executions as wire
from sandbox_runtime.api.number_fields import Number
from sandbox_runtime.api.requests import platform_of
from sandbox_runtime.errors import NotFound
from sandbox_runtime.model import Artifact, Execution, ExecutionKind, ExecutionState
from sandbox_runtime.sessions import ExecutionSpec
from sandbox_runtime.store import ExecutionFilter

routes = router("/executions", "executions")
of_sessions = router("/sessions", "executions")
_ONE = returns(wire.ExecutionResponse)
Poll = Annotated[Number, Query(ge=0.1, le=10, description="Taken, and not needed: the answer comes when the execution ends.")]
Within = Annotated[Number, Query(ge=10, le=3600)]


@routes.post("/sessions/{session_id}/execute", status_code=201, responses=returns(wire.Submitted, 201))
async def submit(request: Request, session_id: Identifier, asked: wire.ExecuteCodeRequest) -> Response:
    """Have code executed; the answer comes at once, and tells its id."""
    submitted = await _submitted(request, session_id, asked)
    return submitted if isinstance(submitted, Response) else answer(translation.submitted(submitted), 201)


@of_sessions.post("/{session_id}/execute", responses=returns(wire.Submitted))
async def submit_to_session(request: Request, session_id: Identifier, asked: wire.ExecuteCodeRequest) -> Response:
    """The same under the address of the design: pending, or submitted once it is on its way."""
    submitted = await _submitted(request, session_id, asked)
    if isinstance(submitted, Response):
        return submitted
    told = translation.submitted(submitted)
    word = "pending" if submitted.state is ExecutionState.pending else "submitted"
    return answer(told.model_copy(update={"status": word}))


@routes.post(
    "/sessions/{session_id}/execute-sync",
    responses=returns(
        wire.ExecutionResponse,
        status_408="It has not ended in time and goes on; X-Execution-ID tells its id",
        status_409="The session is not running",
        status_429="Too many executions of this session wait already",
    ),
)
async def execute_and_wait(
    request: Request,
    session_id: Identifier,
    asked: wire.ExecuteCodeRequest,
    poll_interval: Poll = 0.5,
    sync_timeout: Within = 300,
) -> Response:
    """Have code executed and wait for its end. 408 when it has not ended in time: it goes on, and its result can be asked for
    later."""
    spec = _spec(request, asked)
    if isinstance(spec, Response):
        return spec
    execution = await sessions_of(request).executions.run(session_id, spec, wait_s=sync_timeout, owner=owner_of(request))
    if not execution.state.ended:
        told = f"the execution {execution.id} has not ended within {sync_timeout:g} s; it goes on"
        return refusal(408, told, request.url.path, {"X-Execution-ID": execution.id})
    return await _full(request, execution)


@routes.get("/sessions/{session_id}/executions", responses=returns(wire.ExecutionList))
@of_sessions.get("/{session_id}/executions", responses=returns(wire.ExecutionList))
async def list_executions(
    request: Request, session_id: Identifier, status: ExecutionState | None = None, limit: Limit = 50, offset: Offset = 0
) -> Response:
    """The executions of a session, newest first."""
    wanted = ExecutionFilter(session=session_id, states=None if status is None else (status,))
    page = await sessions_of(request).executions.list(wanted, clamped(limit), offset, owner_of(request))
    return answer(translation.page_of(page))


@routes.get("/{execution_id}", responses=_ONE)
@routes.get("/{execution_id}/status", responses=_ONE)
@routes.get("/{execution_id}/result", responses=_ONE)
async def get_execution(request: Request, execution_id: Identifier) -> Response:
    """An execution, with its output and what came of it as far as that is known."""
    return await _full(request, await sessions_of(request).executions.get(execution_id, owner_of(request)))


@routes.post("/{execution_id}/cancel", responses=_ONE)
async def cancel_execution(request: Request, execution_id: Identifier) -> Response:
    """Stop an execution. One that has ended is left as it is."""
    return await _full(request, await sessions_of(request).executions.cancel(execution_id, owner_of(request)))


@of_sessions.get("/{session_id}/status", responses=returns(wire.ExecutionStatus))
async def session_status(request: Request, session_id: Identifier, execution_id: str | None = None) -> Response:
    """How the latest execution of a session stands, or the one that is named."""
    return answer(translation.status_of(await _of_session(request, session_id, execution_id)))


@of_sessions.get("/{session_id}/result", responses=returns(wire.ExecutionResult))
@of_sessions.get("/{session_id}/results", responses=returns(wire.ExecutionResult))
async def session_result(request: Request, session_id: Identifier, execution_id: str | None = None) -> Response:
    """What came of the latest execution of a session, or of the one that is named."""
    execution = await _of_session(request, session_id, execution_id)
    artifacts = await sessions_of(request).executions.artifacts(execution.id, owner_of(request))
    return answer(translation.result_of(execution, artifacts))


async def _submitted(request: Request, session_id: str, asked: wire.ExecuteCodeRequest) -> Execution | Response:
    spec = _spec(request, asked)
    if isinstance(spec, Response):
        return spec
    return await sessions_of(request).executions.submit(session_id, spec, owner_of(request))


def _spec(request: Request, asked: wire.ExecuteCodeRequest) -> ExecutionSpec | Response:
    spec = translation.spec_of(asked, idempotency_key(request))
    try:
        platform_of(request).catalog.find(spec.language)
    except NotFound as error:
        problem = {"loc": ["body", "language"], "msg": str(error), "type": "value_error"}
        return refusal(422, str(error), request.url.path, detail=[problem])
    return spec


async def _of_session(request: Request, session_id: str, execution_id: str | None) -> Execution:
    sessions, owner = sessions_of(request), owner_of(request)
    if not execution_id:
        return await sessions.executions.latest(session_id, owner)
    found = await sessions.executions.get(execution_id, owner)
    if found.session != session_id:
        raise NotFound(f"the session {session_id!r} has no execution {execution_id!r}")
    return found


async def _full(request: Request, execution: Execution) -> Response:
    artifacts: tuple[Artifact, ...] = ()
    if execution.state.ended and execution.kind is not ExecutionKind.cell:
        artifacts = await sessions_of(request).executions.artifacts_of(execution)
    model = translation.answer_of(execution, artifacts)
    # Much output takes a while to be written as JSON; others need not wait for it.
    large = execution.text_bytes > 256 * 1024
    return await asyncio.to_thread(answer, model) if large else answer(model)
