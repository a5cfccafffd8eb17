"""The routes that agents call all day, once more: matched first, without going through router after router, and read without
the framework's search for dependencies. What they do, and their description, are those of the modules they come from."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field, ValidationError
from starlette.routing import Route

from sandbox_runtime.api.dialects.control_plane.responses import answered
from sandbox_runtime.api.dialects.control_plane.routes import contexts, executions, sessions
from sandbox_runtime.api.dialects.control_plane.schemas.executions import ExecuteCodeRequest, ExecuteInContextRequest
from sandbox_runtime.api.dialects.control_plane.schemas.sessions import CreateSessionRequest
from sandbox_runtime.api.number_fields import Number, RequestModel
from sandbox_runtime.api.requests import read_body

Handler = Callable[..., Awaitable[Response]]
BASE = "/api/v1"


class Nothing(BaseModel):
    pass


class Waiting(RequestModel):
    poll_interval: Number = Field(0.5, ge=0.1, le=10)
    sync_timeout: Number = Field(300, ge=10, le=3600)


class Staying(RequestModel):
    wait: bool = True


def _post(path: str, handler: Handler, body: type[BaseModel], query: type[BaseModel] = Nothing) -> Route:
    async def handle(request: Request) -> Response:
        asked = _read("body", partial(body.model_validate_json, await read_body(request)))
        further = _read("query", partial(query.model_validate, dict(request.query_params)))
        return await handler(request, asked=asked, **request.path_params, **dict(further))

    return Route(BASE + path, partial(answered, handle), methods=["POST"], include_in_schema=False)


def _read(place: str, read: Callable[[], BaseModel]) -> BaseModel:
    try:
        return read()
    except ValidationError as error:
        problems: list[Any] = error.errors(include_url=False, include_input=False, include_context=False)
        raise RequestValidationError([{**one, "loc": (place, *one["loc"])} for one in problems]) from error


routes = (
    _post("/sessions/{session_id}/contexts/{context_id}/execute", contexts.execute_in_context, ExecuteInContextRequest, Staying),
    _post("/executions/sessions/{session_id}/execute-sync", executions.execute_and_wait, ExecuteCodeRequest, Waiting),
    _post("/executions/sessions/{session_id}/execute", executions.submit, ExecuteCodeRequest),
    _post("/sessions/{session_id}/execute", executions.submit_to_session, ExecuteCodeRequest),
    _post("/sessions", sessions.create_session, CreateSessionRequest),
)
