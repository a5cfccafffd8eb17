"""Commands and programs in a sandbox, and their output while they run. Nobody waits for the run of a client that hung up."""

from __future__ import annotations

from fastapi import Request, Response
from fastapi.responses import StreamingResponse

from sandbox_runtime.api.caller import owner_of
from sandbox_runtime.api.dialects.sandboxes import execution, programs, schemas
from sandbox_runtime.api.dialects.sandboxes.mapping import requests
from sandbox_runtime.api.dialects.sandboxes.responses import answer, router
from sandbox_runtime.api.dialects.sandboxes.routes.params import Identifier, sessions_of
from sandbox_runtime.api.disconnect import cancel_on_disconnect
from sandbox_runtime.api.requests import platform_of
from sandbox_runtime.api.sse import event_stream
from sandbox_runtime.errors import InvalidRequest, NotFound

routes = router("/sandboxes/{sandbox_id}", "running")


@routes.post("/exec", response_model=schemas.ExecResult)
async def execute(request: Request, sandbox_id: Identifier, asked: schemas.Exec) -> Response:
    """Run a command, without a shell. A command that fails is a result, not an error; with stream it is answered at once, 202."""
    result = await cancel_on_disconnect(request, execution.execute(sessions_of(request), sandbox_id, asked, owner_of(request)))
    return answer(request, result, 202 if asked.stream else 200)


@routes.post("/code", response_model=schemas.CodeResult)
async def run_code(request: Request, sandbox_id: Identifier, asked: schemas.Code) -> Response:
    """Run a program. One that fails is a result, not an error; with stream it is answered at once, 202."""
    check_language(request, asked)
    result = await cancel_on_disconnect(request, programs.run_code(sessions_of(request), sandbox_id, asked, owner_of(request)))
    return answer(request, result, 202 if asked.stream else 200)


def check_language(request: Request, asked: schemas.Code) -> None:
    """A language that there is not is a mistake in the request: 404 is for sandboxes."""
    try:
        platform_of(request).catalog.find(requests.spoken_language(asked))
    except NotFound as error:
        raise InvalidRequest(str(error)) from error


@routes.get("/streams/{stream_id}", response_class=StreamingResponse)
async def follow(request: Request, sandbox_id: Identifier, stream_id: Identifier) -> Response:
    """Server-sent events with items {type: data, error or complete}: the output from its beginning on, and how it ended."""
    sessions, owner = sessions_of(request), owner_of(request)
    await execution.check_stream(sessions, sandbox_id, stream_id, owner)
    return event_stream(execution.followed(sessions, stream_id, owner))
