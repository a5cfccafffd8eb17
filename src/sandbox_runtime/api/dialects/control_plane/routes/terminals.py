"""Terminals: a command, or a shell, that somebody sits in front of. What appears is read as the output of an execution."""

from __future__ import annotations

from fastapi import Request, Response
from pydantic import BaseModel, Field

from sandbox_runtime.api.dialects.control_plane.mapping import executions as translation
from sandbox_runtime.api.dialects.control_plane.responses import answer, returns, router
from sandbox_runtime.api.dialects.control_plane.routes.params import Identifier, idempotency_key, owner_of, sessions_of
from sandbox_runtime.api.dialects.control_plane.schemas import executions as wire
from sandbox_runtime.api.requests import read_body
from sandbox_runtime.engine.terminals import Size
from sandbox_runtime.model import ExecutionKind
from sandbox_runtime.sessions import ExecutionSpec

of_sessions = router("/sessions", "terminals")
routes = router("/executions", "terminals")


class Dimensions(BaseModel):
    rows: int = Field(24, ge=1, le=10_000)
    columns: int = Field(80, ge=1, le=10_000)


class OpenTerminalRequest(Dimensions):
    """command empty: a shell. timeout: whole seconds until it ends, whatever runs on it."""

    command: str = Field("", max_length=102_400)
    timeout: int = Field(3600, ge=1, le=3600)
    env_vars: dict[str, str] = Field(default_factory=dict)


@of_sessions.post("/{session_id}/terminal", status_code=201, responses=returns(wire.ExecutionResponse, 201))
async def open_terminal(request: Request, session_id: Identifier, asked: OpenTerminalRequest) -> Response:
    """Start a command, or a shell, on a terminal. What appears on it is read as the output of this execution."""
    spec = ExecutionSpec(
        code=asked.command,
        kind=ExecutionKind.command,
        language="bash",
        env=asked.env_vars,
        timeout_s=float(asked.timeout),
        terminal=Size(asked.rows, asked.columns),
        idempotency_key=translation.checked_key(idempotency_key(request)),
    )
    execution = await sessions_of(request).executions.submit(session_id, spec, owner_of(request))
    return answer(translation.answer_of(execution), 201)


@routes.post("/{execution_id}/input", status_code=204)
async def type_in(request: Request, execution_id: Identifier) -> Response:
    """Type on a terminal: the body is what is typed, byte for byte. 429 while nothing reads it."""
    await sessions_of(request).terminals.send_keys(execution_id, await read_body(request, raw=True), owner_of(request))
    return Response(status_code=204)


@routes.post("/{execution_id}/resize", status_code=204)
async def resize(request: Request, execution_id: Identifier, asked: Dimensions) -> Response:
    """Give a terminal another size."""
    await sessions_of(request).terminals.resize(execution_id, Size(asked.rows, asked.columns), owner_of(request))
    return Response(status_code=204)
