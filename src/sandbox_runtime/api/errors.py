"""From exceptions to HTTP answers: one table, keyed by class. No traceback ever reaches a client."""

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

STATUS_OF: Mapping[type[SandboxError], int] = MappingProxyType(
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
    """That of the nearest class in the table."""
    return next(STATUS_OF[kind] for kind in type(error).__mro__ if kind in STATUS_OF)


def headers_of(error: SandboxError) -> dict[str, str]:
    return {"Retry-After": str(math.ceil(error.retry_after_s))} if isinstance(error, TooMany) else {}


def answer(error: SandboxError, status: int | None = None) -> JSONResponse:
    return JSONResponse({"detail": str(error)}, status or status_of(error), headers_of(error))


def install(app: FastAPI) -> None:
    app.add_exception_handler(SandboxError, _expected)
    app.add_exception_handler(Exception, _unexpected)


async def _expected(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, SandboxError)
    return answer(error)


async def _unexpected(request: Request, error: Exception) -> JSONResponse:
    """In the protocol's shape, with one line where it has the traceback: that stays in the log."""
    told = f"internal error; the server's log tells more under {report(request, error)}"
    return JSONResponse({"detail": told, "traceback": [told]}, 500)


def report(request: Request, error: Exception) -> str:
    """Write an unforeseen error to the log and return the reference under which it is found there."""
    reference = secrets.token_hex(4)
    request.app.state.platform.log.error(
        "unforeseen error", reference=reference, path=request.url.path, exc_info=(type(error), error, error.__traceback__)
    )
    return reference
