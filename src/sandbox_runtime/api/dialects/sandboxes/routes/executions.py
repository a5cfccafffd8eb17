"""Run commands and programs in a sandbox, and stream their output. A run is cancelled when its client disconnects."""

from __future__ import annotations

from fastapi import Request, Response
from fastapi.responses import StreamingResponse

from sandbox_runtime.api.caller import owner_of
from sandbox_runtime.api.dialects.sandboxes import execution, programs
from sandbox_runtime.api.dialects.sandboxes.mapping.requests import program_language
from sandbox_runtime.api.dialects.sandboxes.responses import model_response, router
from sandbox_runtime.api.dialects.sandboxes.routes.params import Identifier, sessions_of
from sandbox_runtime.api.dialects.sandboxes.schemas.executions import CodeRequest, CodeResult, ExecRequest, ExecResult
from sandbox_runtime.api.disconnect import cancel_on_disconnect
from sandbox_runtime.api.requests import platform_of
from sandbox_runtime.api.sse import event_stream
from sandbox_runtime.errors import InvalidRequest, NotFound

routes = router("/sandboxes/{sandbox_id}", "running")


@routes.post("/exec", response_model=ExecResult)
async def execute(request: Request, sandbox_id: Identifier, body: ExecRequest) -> Response:
    """Run a command without a shell.

    A command that fails is a result, not an error. With `stream` the response is 202, before the command ends.
    """
    result = await cancel_on_disconnect(request, execution.execute(sessions_of(request), sandbox_id, body, owner_of(request)))
    return model_response(request, result, 202 if body.stream else 200)


@routes.post("/code", response_model=CodeResult)
async def run_code(request: Request, sandbox_id: Identifier, body: CodeRequest) -> Response:
    """Run a program.

    A program that fails is a result, not an error. With `stream` the response is 202, before the program ends.
    """
    check_language(request, body)
    result = await cancel_on_disconnect(request, programs.run_code(sessions_of(request), sandbox_id, body, owner_of(request)))
    return model_response(request, result, 202 if body.stream else 200)


def check_language(request: Request, body: CodeRequest) -> None:
    """Raise InvalidRequest for an unknown language. NotFound would be a 404, which is for unknown sandboxes."""
    try:
        platform_of(request).catalog.find(program_language(body))
    except NotFound as error:
        raise InvalidRequest(str(error)) from error


@routes.get("/streams/{stream_id}", response_class=StreamingResponse)
async def follow(request: Request, sandbox_id: Identifier, stream_id: Identifier) -> Response:
    """Stream the output of a run from its start as server-sent events.

    Items have the type `data` (stdout), `error` (stderr) or `complete` (the result, last).
    """
    sessions, owner = sessions_of(request), owner_of(request)
    await execution.check_stream(sessions, sandbox_id, stream_id, owner)
    return event_stream(execution.stream_events(sessions, stream_id, owner))
