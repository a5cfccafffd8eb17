"""HTTP responses for exceptions: one table of status codes by class. Tracebacks are never sent to clients."""

from __future__ import annotations

import math
import secrets
from collections.abc import Mapping
from types import MappingProxyType

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse

from sandbox_runtime.errors import (
    Conflict,
    Denied,
    InvalidRequest,
    NotFound,
    PlatformFault,
    QuotaExceeded,
    RequestError,
    SandboxError,
    StorageFull,
    TooMany,
    Unavailable,
)

STATUS_CODES: Mapping[type[SandboxError], int] = MappingProxyType(
    {
        InvalidRequest: 422,
        NotFound: 404,
        Conflict: 409,
        Denied: 403,
        TooMany: 503,
        StorageFull: 507,
        QuotaExceeded: 429,
        RequestError: 400,
        Unavailable: 501,
        PlatformFault: 500,
        SandboxError: 500,
    }
)


def status_of(error: SandboxError) -> int:
    """Return the status code of the error's class or its nearest base class in the table."""
    return next(STATUS_CODES[kind] for kind in type(error).__mro__ if kind in STATUS_CODES)


def headers_of(error: SandboxError) -> dict[str, str]:
    return {"Retry-After": str(math.ceil(error.retry_after_s))} if isinstance(error, TooMany) else {}


def error_response(error: SandboxError, status: int | None = None) -> JSONResponse:
    return JSONResponse({"detail": str(error)}, status or status_of(error), headers_of(error))


def install(app: FastAPI) -> None:
    app.add_exception_handler(SandboxError, _handle_expected)
    app.add_exception_handler(Exception, _handle_unexpected)


async def _handle_expected(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, SandboxError)
    return error_response(error)


async def _handle_unexpected(request: Request, error: Exception) -> JSONResponse:
    """The field `traceback` belongs to the SandboxFusion protocol. It holds the message; the traceback is in the log."""
    message = internal_error(request, error)
    return JSONResponse({"detail": message, "traceback": [message]}, 500)


def internal_error(request: Request, error: Exception) -> str:
    """Log an unexpected error with its traceback. Returns a message for the client with the reference of the log entry."""
    reference = secrets.token_hex(4)
    request.app.state.platform.log.error(
        "unforeseen error", reference=reference, path=request.url.path, exc_info=(type(error), error, error.__traceback__)
    )
    return f"internal error: see the server log for reference {reference}"
