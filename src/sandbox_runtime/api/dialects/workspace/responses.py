"""Read request bodies and write responses of this protocol, with one table of errors each for sessions, code, files and handlers.

An operation that does not fit the state of a session is status 500 with `detail.type` SandboxError, as the protocol defines it.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Mapping
from types import MappingProxyType
from typing import Any, TypeVar

from fastapi import Request
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, ValidationError

from sandbox_runtime.api import errors, requests
from sandbox_runtime.api.caller import caller_of
from sandbox_runtime.api.dialects.workspace.implicit_sessions import ImplicitSession
from sandbox_runtime.api.dialects.workspace.schemas import HandlerErrorResponse, Json, WorkspaceErrorResponse
from sandbox_runtime.api.openapi import json_body
from sandbox_runtime.api.requests import platform_of
from sandbox_runtime.errors import (
    Conflict,
    Denied,
    InvalidRequest,
    NotFound,
    QuotaExceeded,
    SandboxError,
    StorageFull,
    TooMany,
    Unavailable,
)

Model = TypeVar("Model", bound=BaseModel)
ErrorTable = Mapping[type[SandboxError], tuple[int, str]]
"""Class of an error → HTTP status and code. The nearest base class applies."""

SESSION_ERRORS: ErrorTable = MappingProxyType(
    {
        InvalidRequest: (400, "INVALID_REQUEST"),
        NotFound: (404, "SESSION_NOT_FOUND"),
        Conflict: (500, "SESSION_CONFLICT"),
        Denied: (403, "DENIED"),
        TooMany: (503, "RESOURCE_LIMIT"),
        StorageFull: (507, "STORAGE_FULL"),
        QuotaExceeded: (429, "QUOTA_EXCEEDED"),
        Unavailable: (500, "UNAVAILABLE"),
        SandboxError: (500, "INTERNAL_ERROR"),
    }
)
CODE_ERRORS: ErrorTable = MappingProxyType(
    {**SESSION_ERRORS, InvalidRequest: (400, "INVALID_CODE"), Conflict: (500, "SESSION_EXPIRED")}
)
FILE_ERRORS: ErrorTable = MappingProxyType(
    {**SESSION_ERRORS, InvalidRequest: (400, "INVALID_PATH"), NotFound: (404, "FILE_NOT_FOUND")}
)
HANDLER_ERRORS: ErrorTable = MappingProxyType(
    {
        InvalidRequest: (400, "Sandbox.InvalidParameter"),
        TooMany: (503, "Sandbox.TooManyRequestsExection"),
        StorageFull: (507, "Sandbox.TooManyRequestsExection"),
        QuotaExceeded: (429, "Sandbox.TooManyRequestsExection"),
        Unavailable: (503, "Sandbox.NotInitialized"),
        SandboxError: (500, "Sandbox.InternalError"),
    }
)
FILE_NOT_FOUND = "File not found"
_MAX_PROBLEMS = 5
_SOLUTIONS = {
    "Sandbox.InvalidParameter": "Send handler_code that defines handler(event), and objects as event and context.",
    "Sandbox.TooManyRequestsExection": "Retry after the number of seconds in the Retry-After header.",
    "Sandbox.NotInitialized": "Check /health and the server's log.",
    "Sandbox.InternalError": "Retry. If it fails again, check the server's log.",
    "Sandbox.ExecTimeout": "Make the handler faster, or raise its timeout with the event key __timeout, in seconds.",
    "Sandbox.ExecException": "Check error_detail: the handler failed or exceeded a limit.",
}


def implicit_session(request: Request, session_id: str) -> ImplicitSession:
    return ImplicitSession(platform_of(request), session_id, caller_of(request))


async def read_body(request: Request, model: type[Model], *, optional: bool = False) -> Model:
    """Return the JSON body. Raises ValidationError. `optional`: a missing body is an empty object."""
    raw = await requests.read_body(request)
    return model.model_validate_json(b"{}" if optional and not raw.strip() else raw)


async def respond(work: Awaitable[Json], table: ErrorTable = SESSION_ERRORS) -> Response:
    """Await the work and return its body, or the response of its error."""
    try:
        return json_response(await work)
    except ValidationError as error:
        return invalid_response(error)
    except SandboxError as error:
        return error_response(error, table)


def json_response(body: Json) -> Response:
    return Response(json.dumps(body, ensure_ascii=False).encode(errors="replace"), media_type="application/json")


def route_options(
    body: type[BaseModel] | None = None, response: type[BaseModel] | None = None, table: ErrorTable = SESSION_ERRORS
) -> dict[str, Any]:
    """Return the OpenAPI options of a route that reads its body itself."""
    options: dict[str, Any] = {"responses": error_descriptions(table)}
    if body is not None:
        options["openapi_extra"] = json_body(body)
    if response is not None:
        options["responses"][200] = {"model": response}
    return options


def error_descriptions(table: ErrorTable) -> dict[int | str, dict[str, Any]]:
    codes: dict[int, list[str]] = {}
    for status, code in table.values():
        codes.setdefault(status, []).append(code)
    if table is not HANDLER_ERRORS:
        codes[422] = ["INVALID_REQUEST"]
    model = HandlerErrorResponse if table is HANDLER_ERRORS else WorkspaceErrorResponse
    return {status: {"model": model, "description": ", ".join(dict.fromkeys(names))} for status, names in sorted(codes.items())}


def error_response(error: SandboxError, table: ErrorTable) -> JSONResponse:
    status, code = _status_and_code(error, table)
    message = str(error)
    detail: Any = {"type": "SandboxError", "message": message, "detail": f"{code}: {message}"}
    if table is FILE_ERRORS and status < 500:
        detail = FILE_NOT_FOUND if status == 404 else message
    return _error_envelope(status, code, message, detail, errors.headers_of(error))


def invalid_response(error: ValidationError) -> JSONResponse:
    """Return a 422 whose `detail` has FastAPI's shape, without the input, which may be large or not text."""
    problems = error.errors(include_url=False, include_context=False, include_input=False)
    detail = [{**problem, "loc": ["body", *problem["loc"]]} for problem in problems]
    return _error_envelope(422, "INVALID_REQUEST", problems_text(error), detail)


def problems_text(error: ValidationError) -> str:
    """Return the first problems as one line: "field: message; field: message"."""
    problems = error.errors(include_url=False, include_context=False, include_input=False)[:_MAX_PROBLEMS]
    return "; ".join(f"{'.'.join(map(str, problem['loc'])) or 'body'}: {problem['msg']}" for problem in problems)


def handler_failure(
    status: int, code: str, description: str, error_detail: Any, headers: dict[str, str] | None = None
) -> JSONResponse:
    detail = {"error_code": code, "description": description, "error_detail": error_detail, "solution": _SOLUTIONS[code]}
    return JSONResponse({"detail": detail, **detail}, status, headers)


def handler_error_response(error: SandboxError) -> JSONResponse:
    status, code = _status_and_code(error, HANDLER_ERRORS)
    return handler_failure(status, code, str(error), str(error), errors.headers_of(error))


def _status_and_code(error: SandboxError, table: ErrorTable) -> tuple[int, str]:
    return next(table[kind] for kind in type(error).__mro__ if kind in table)


def _error_envelope(status: int, code: str, message: str, detail: Any, headers: dict[str, str] | None = None) -> JSONResponse:
    error = {"code": code, "message": message}
    return JSONResponse({"detail": detail, "success": False, "data": None, "error": error}, status, headers)
