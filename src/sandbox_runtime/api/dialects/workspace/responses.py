"""Read requests and answer as this protocol does: JSON, and a table of errors each for sessions, code, files and handlers.

What does not fit the state of a session is status 500 here, with `detail.type` SandboxError: that is the protocol's word.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Mapping
from types import MappingProxyType
from typing import Any, TypeVar

from fastapi import Request
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, ValidationError

from sandbox_runtime.api import errors
from sandbox_runtime.api.caller import caller_of
from sandbox_runtime.api.dialects.workspace.implicit_sessions import Room
from sandbox_runtime.api.dialects.workspace.schemas import Failed, HandlerFailed, Json
from sandbox_runtime.api.openapi import json_body
from sandbox_runtime.api.requests import body_of, platform_of
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
Table = Mapping[type[SandboxError], tuple[int, str]]

OF_SESSION: Table = MappingProxyType(
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
OF_CODE: Table = MappingProxyType({**OF_SESSION, InvalidRequest: (400, "INVALID_CODE"), Conflict: (500, "SESSION_EXPIRED")})
OF_FILE: Table = MappingProxyType({**OF_SESSION, InvalidRequest: (400, "INVALID_PATH"), NotFound: (404, "FILE_NOT_FOUND")})
OF_HANDLER: Table = MappingProxyType(
    {
        InvalidRequest: (400, "Sandbox.InvalidParameter"),
        TooMany: (503, "Sandbox.TooManyRequestsExection"),
        StorageFull: (507, "Sandbox.TooManyRequestsExection"),
        QuotaExceeded: (429, "Sandbox.TooManyRequestsExection"),
        Unavailable: (503, "Sandbox.NotInitialized"),
        SandboxError: (500, "Sandbox.InternalError"),
    }
)
NO_FILE = "File not found"
_SOLUTIONS = {
    "Sandbox.InvalidParameter": "Send handler_code that defines handler(event), and objects as event and context.",
    "Sandbox.TooManyRequestsExection": "Try again after the seconds that Retry-After names.",
    "Sandbox.NotInitialized": "Look at /health, and at the server's log.",
    "Sandbox.InternalError": "Try again; if it happens again, look at the server's log.",
    "Sandbox.ExecTimeout": "Make the handler faster, or give it more time: event key __timeout, in seconds.",
    "Sandbox.ExecException": "Look at error_detail: the handler failed by itself or ran into a limit.",
}


def room_of(request: Request, session_id: str) -> Room:
    return Room(platform_of(request), session_id, caller_of(request))


async def message(request: Request, kind: type[Model], *, optional: bool = False) -> Model:
    """Raises ValidationError. optional: no body is the same as an empty object."""
    body = await body_of(request)
    return kind.model_validate_json(b"{}" if optional and not body.strip() else body)


async def answered(work: Awaitable[Json], table: Table = OF_SESSION) -> Response:
    try:
        return as_json(await work)
    except ValidationError as error:
        return invalid(error)
    except SandboxError as error:
        return error_response(error, table)


def as_json(answer: Json) -> Response:
    return Response(json.dumps(answer, ensure_ascii=False).encode(errors="replace"), media_type="application/json")


def described(
    request: type[BaseModel] | None = None, answer: type[BaseModel] | None = None, table: Table = OF_SESSION
) -> dict[str, Any]:
    """For the description of a route that reads its body by itself. table: which errors it answers with what."""
    extra: dict[str, Any] = {"responses": refusals(table)}
    if request is not None:
        extra["openapi_extra"] = json_body(request)
    if answer is not None:
        extra["responses"][200] = {"model": answer}
    return extra


def refusals(table: Table) -> dict[int | str, dict[str, Any]]:
    codes: dict[int, list[str]] = {}
    for status, code in table.values():
        codes.setdefault(status, []).append(code)
    model = HandlerFailed if table is OF_HANDLER else Failed
    if table is not OF_HANDLER:
        codes[422] = ["INVALID_REQUEST"]
    return {status: {"model": model, "description": ", ".join(dict.fromkeys(found))} for status, found in sorted(codes.items())}


def error_response(error: SandboxError, table: Table) -> JSONResponse:
    status, code = _row(error, table)
    message = str(error)
    detail: Any = {"type": "SandboxError", "message": message, "detail": f"{code}: {message}"}
    if table is OF_FILE and status < 500:
        detail = NO_FILE if status == 404 else message
    return _failed(status, code, message, detail, errors.headers_of(error))


def invalid(error: ValidationError) -> JSONResponse:
    """In the framework's own shape as well, without the input: it may be large, or not even text."""
    found = error.errors(include_url=False, include_context=False, include_input=False)
    detail = [{**one, "loc": ["body", *one["loc"]]} for one in found]
    message = "; ".join(f"{'.'.join(map(str, one['loc'])) or 'body'}: {one['msg']}" for one in found[:5])
    return _failed(422, "INVALID_REQUEST", message, detail)


def handler_fault(status: int, code: str, description: str, told: Any, headers: dict[str, str] | None = None) -> JSONResponse:
    detail = {"error_code": code, "description": description, "error_detail": told, "solution": _SOLUTIONS[code]}
    return JSONResponse({"detail": detail, **detail}, status, headers)


def handler_answer(error: SandboxError) -> JSONResponse:
    status, code = _row(error, OF_HANDLER)
    return handler_fault(status, code, str(error), str(error), errors.headers_of(error))


def _row(error: SandboxError, table: Table) -> tuple[int, str]:
    return next(table[kind] for kind in type(error).__mro__ if kind in table)


def _failed(status: int, code: str, message: str, detail: Any, headers: dict[str, str] | None = None) -> JSONResponse:
    fault = {"code": code, "message": message}
    return JSONResponse({"detail": detail, "success": False, "data": None, "error": fault}, status, headers)
