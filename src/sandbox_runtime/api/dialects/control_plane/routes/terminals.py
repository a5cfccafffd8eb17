"""Terminals: an interactive command or shell. Its output is that of an execution."""

from __future__ import annotations

from fastapi import Request, Response
from pydantic import BaseModel, Field

from sandbox_runtime.api.dialects.control_plane.mapping import executions as mapping
from sandbox_runtime.api.dialects.control_plane.responses import json_response, new_router, returns
from sandbox_runtime.api.dialects.control_plane.routes.params import Identifier, idempotency_key, owner_of, sessions_of
from sandbox_runtime.api.dialects.control_plane.schemas import executions as schemas
from sandbox_runtime.api.requests import read_body
from sandbox_runtime.engine.terminals import Size
from sandbox_runtime.model import ExecutionKind
from sandbox_runtime.sessions import ExecutionSpec

session_router = new_router("/sessions", "terminals")
router = new_router("/executions", "terminals")


class TerminalSize(BaseModel):
    rows: int = Field(24, ge=1, le=10_000)
    columns: int = Field(80, ge=1, le=10_000)


class OpenTerminalRequest(TerminalSize):
    command: str = Field("", max_length=102_400, description="empty: a shell")
    timeout: int = Field(3600, ge=1, le=3600, description="seconds until the terminal is closed")
    env_vars: dict[str, str] = Field(default_factory=dict)


@session_router.post("/{session_id}/terminal", status_code=201, responses=returns(schemas.ExecutionResponse, 201))
async def open_terminal(request: Request, session_id: Identifier, body: OpenTerminalRequest) -> Response:
    """Start a command or a shell on a terminal. Read its screen as the output of the returned execution."""
    spec = ExecutionSpec(
        code=body.command,
        kind=ExecutionKind.command,
        language="bash",
        env=body.env_vars,
        timeout_s=float(body.timeout),
        terminal=Size(body.rows, body.columns),
        idempotency_key=mapping.check_idempotency_key(idempotency_key(request)),
    )
    execution = await sessions_of(request).executions.submit(session_id, spec, owner_of(request))
    return json_response(mapping.to_response(execution), 201)


@router.post("/{execution_id}/input", status_code=204)
async def type_in(request: Request, execution_id: Identifier) -> Response:
    """Send input to a terminal. The body is sent byte for byte. Returns 429 while the program does not read its input."""
    await sessions_of(request).terminals.send_keys(execution_id, await read_body(request, raw=True), owner_of(request))
    return Response(status_code=204)


@router.post("/{execution_id}/resize", status_code=204)
async def resize(request: Request, execution_id: Identifier, body: TerminalSize) -> Response:
    """Resize a terminal."""
    await sessions_of(request).terminals.resize(execution_id, Size(body.rows, body.columns), owner_of(request))
    return Response(status_code=204)
