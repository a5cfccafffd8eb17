"""Live interpreters of a session: what one execution defines, the next one finds."""

from __future__ import annotations

from fastapi import Request, Response

from sandbox_runtime.api.dialects.control_plane.mapping import executions as translation
from sandbox_runtime.api.dialects.control_plane.responses import answer, refusal, returns, router
from sandbox_runtime.api.dialects.control_plane.routes.params import Identifier, idempotency_key, owner_of, sessions_of
from sandbox_runtime.api.dialects.control_plane.schemas import executions as wire

routes = router("/sessions/{session_id}/contexts", "contexts")
_ONE = returns(wire.ContextResponse)
_OVER_S = 30.0
"""Beyond its own time: an interpreter that must be killed takes a while to be gone."""


@routes.post("", status_code=201, responses=returns(wire.ContextResponse, 201))
async def open_context(request: Request, session_id: Identifier) -> Response:
    """Start a Python interpreter that keeps its variables from one execution to the next."""
    return answer(translation.context_of(await sessions_of(request).contexts.open(session_id, owner_of(request))), 201)


@routes.get("", responses=returns(wire.ContextList))
async def list_contexts(request: Request, session_id: Identifier) -> Response:
    """The live interpreters of a session."""
    views = [translation.context_of(view) for view in await sessions_of(request).contexts.list(session_id, owner_of(request))]
    return answer(wire.ContextList(contexts=views, total=len(views)))


@routes.post("/{context_id}/execute", responses=returns(wire.ExecutionResponse))
async def execute_in_context(
    request: Request, session_id: Identifier, context_id: Identifier, asked: wire.ExecuteInContextRequest, wait: bool = True
) -> Response:
    """Run code in a live interpreter. wait=false: 202 at once; what it prints and what comes of it are asked for as of every
    execution."""
    sessions, owner = sessions_of(request), owner_of(request)
    spec = translation.cell_of(asked, context_id, idempotency_key(request))
    if not wait:
        return answer(translation.submitted(await sessions.executions.submit(session_id, spec, owner)), 202)
    execution = await sessions.executions.run(session_id, spec, wait_s=asked.timeout + _OVER_S, owner=owner)
    if not execution.state.ended:
        told = f"the execution {execution.id} still waits for its turn; it goes on"
        return refusal(408, told, request.url.path, {"X-Execution-ID": execution.id})
    return answer(translation.answer_of(execution))


@routes.post("/{context_id}/interrupt", responses=_ONE)
async def interrupt_context(request: Request, session_id: Identifier, context_id: Identifier) -> Response:
    """Interrupt what runs in it, as Ctrl-C does."""
    view = await sessions_of(request).contexts.interrupt(session_id, context_id, owner_of(request))
    return answer(translation.context_of(view))


@routes.post("/{context_id}/restart", responses=_ONE)
async def restart_context(request: Request, session_id: Identifier, context_id: Identifier) -> Response:
    """End the interpreter and start another one under the same id: its variables are gone."""
    view = await sessions_of(request).contexts.restart(session_id, context_id, owner_of(request))
    return answer(translation.context_of(view))


@routes.delete("/{context_id}", status_code=204)
async def close_context(request: Request, session_id: Identifier, context_id: Identifier) -> Response:
    """End a live interpreter."""
    await sessions_of(request).contexts.close(session_id, context_id, owner_of(request))
    return Response(status_code=204)
