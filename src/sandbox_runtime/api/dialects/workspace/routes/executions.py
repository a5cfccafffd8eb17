"""Run scripts, commands and handlers in a session."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter, Request
from fastapi.responses import Response
from starlette.requests import ClientDisconnect

from sandbox_runtime.api.dialects.workspace.implicit_sessions import ImplicitSession
from sandbox_runtime.api.dialects.workspace.mapping.answers import execution_body
from sandbox_runtime.api.dialects.workspace.mapping.requests import command_spec, file_path, script_path, script_spec, shell_spec
from sandbox_runtime.api.dialects.workspace.responses import CODE_ERRORS, implicit_session, read_body, respond, route_options
from sandbox_runtime.api.dialects.workspace.schemas import CommandRequest, Json, ScriptRequest, WorkspaceExecutionResponse
from sandbox_runtime.api.disconnect import cancel_on_disconnect
from sandbox_runtime.model import Execution
from sandbox_runtime.sessions import ExecutionSpec

EXECUTABLE = 0o755
MAX_WAIT_S = 2 * 3600.0
"""Includes the time in the queue of the session."""

router = APIRouter()


@router.post("/execute_code/{session_id}", **route_options(ScriptRequest, WorkspaceExecutionResponse, CODE_ERRORS))
async def execute_code(request: Request, session_id: str) -> Response:
    """Save a script in the workspace and run it. The session is created if it is missing."""

    async def work() -> Json:
        body = await read_body(request, ScriptRequest)
        session = implicit_session(request, session_id)
        spec = await _save_shell_script(session, body) if body.script_type == "shell" else script_spec(body)
        return execution_body(await _run_to_end(request, session, spec), with_variables=bool(body.output_params))

    return await respond(work(), CODE_ERRORS)


@router.post("/execute/{session_id}", **route_options(CommandRequest, WorkspaceExecutionResponse, CODE_ERRORS))
async def execute(request: Request, session_id: str) -> Response:
    """Run a command or call a handler. The session is created if it is missing."""

    async def work() -> Json:
        spec = command_spec(await read_body(request, CommandRequest))
        return execution_body(await _run_to_end(request, implicit_session(request, session_id), spec))

    return await respond(work(), CODE_ERRORS)


async def _save_shell_script(session: ImplicitSession, body: ScriptRequest) -> ExecutionSpec:
    path = file_path(script_path(body))
    spec = shell_spec(body, path)
    files = await session.call(lambda: session.sessions.files.open(session.id, session.owner))
    await files.write(path, body.code.encode(errors="replace"), mode=EXECUTABLE)
    return spec


async def _run_to_end(request: Request, session: ImplicitSession, spec: ExecutionSpec) -> Execution:
    """Run it and return the execution. Cancel it if the client disconnects, so that the next one in the queue can start."""
    sessions, owner = session.sessions, session.owner
    execution = await session.call(lambda: sessions.executions.submit(session.id, spec, owner))
    try:
        return await cancel_on_disconnect(request, sessions.executions.wait(execution.id, MAX_WAIT_S, owner))
    except (ClientDisconnect, asyncio.CancelledError):
        await sessions.executions.cancel(execution.id, owner)
        raise
