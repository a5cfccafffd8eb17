"""Which error becomes which answer of this protocol: a table for sessions, one for files, one for handlers without a session.

What does not fit the state of a session is status 500 here, with `detail.type` SandboxError: that is the protocol's word.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from fastapi.responses import JSONResponse
from pydantic import ValidationError

from sandbox_runtime.api import errors
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


def answer(error: SandboxError, table: Table) -> JSONResponse:
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
