"""Scripts, commands and handlers in a session."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter, Request
from fastapi.responses import Response
from starlette.requests import ClientDisconnect

from sandbox_runtime.api.dialects.workspace import responses
from sandbox_runtime.api.dialects.workspace.implicit_sessions import Room
from sandbox_runtime.api.dialects.workspace.mapping import answers
from sandbox_runtime.api.dialects.workspace.mapping.requests import command_spec, file_name, script_name, script_spec, shell_spec
from sandbox_runtime.api.dialects.workspace.responses import answered, described, message, room_of
from sandbox_runtime.api.dialects.workspace.schemas import Execute, ExecuteCode, Executed, Json
from sandbox_runtime.api.disconnect import while_present
from sandbox_runtime.model import Execution
from sandbox_runtime.sessions import ExecutionSpec

EXECUTABLE = 0o755
LONGEST_WAIT_S = 2 * 3600.0
"""For its turn in the session and its own time."""

router = APIRouter()


@router.post("/execute_code/{session_id}", **described(ExecuteCode, Executed, responses.OF_CODE))
async def execute_code(request: Request, session_id: str) -> Response:
    """Run a script in the session; it is saved in the workspace first."""

    async def work() -> Json:
        asked = await message(request, ExecuteCode)
        room = room_of(request, session_id)
        spec = await _saved(room, asked) if asked.script_type == "shell" else script_spec(asked)
        return answers.executed(await _ended(request, room, spec), wanted=bool(asked.output_params))

    return await answered(work(), responses.OF_CODE)


@router.post("/execute/{session_id}", **described(Execute, Executed, responses.OF_CODE))
async def execute(request: Request, session_id: str) -> Response:
    """Run a command, or call a handler, in the session."""

    async def work() -> Json:
        spec = command_spec(await message(request, Execute))
        return answers.executed(await _ended(request, room_of(request, session_id), spec))

    return await answered(work(), responses.OF_CODE)


async def _saved(room: Room, asked: ExecuteCode) -> ExecutionSpec:
    name = file_name(script_name(asked))
    spec = shell_spec(asked, name)
    files = await room.use(lambda: room.sessions.files(room.id, room.owner))
    await files.write(name, asked.code.encode(errors="replace"), mode=EXECUTABLE)
    return spec


async def _ended(request: Request, room: Room, spec: ExecutionSpec) -> Execution:
    """Nobody waits for what a client began that hung up: it is cancelled, so that the next one gets its turn."""
    sessions, owner = room.sessions, room.owner
    execution = await room.use(lambda: sessions.submit(room.id, spec, owner))
    try:
        return await while_present(request, sessions.wait(execution.id, LONGEST_WAIT_S, owner))
    except (ClientDisconnect, asyncio.CancelledError):
        await sessions.cancel(execution.id, owner)
        raise
