"""Write responses of this protocol: models as JSON with the version of the request, and errors in one shape."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Coroutine, Mapping
from datetime import UTC, datetime
from functools import partial
from http import HTTPStatus
from types import MappingProxyType
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from pydantic import BaseModel, ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from sandbox_runtime.api import errors
from sandbox_runtime.api.dialects.sandboxes import protocol_version
from sandbox_runtime.api.dialects.sandboxes.schemas.base import SandboxErrorResponse
from sandbox_runtime.api.requests import read_body
from sandbox_runtime.errors import InvalidRequest, SandboxError, TooMany

Handler = Callable[[Request], Coroutine[Any, Any, Response]]
STATUS_CODES: Mapping[type[SandboxError], int] = MappingProxyType({**errors.STATUS_CODES, InvalidRequest: 400, TooMany: 429})
_MAX_PROBLEMS = 20
_REQUEST_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_ERROR_RESPONSES: dict[int | str, dict[str, Any]] = {
    422: {"model": SandboxErrorResponse, "description": "Not used: an invalid request is 400"},
    "default": {"model": SandboxErrorResponse, "description": "The error; error.code is the HTTP status"},
}


class SandboxRoute(APIRoute):
    """Reads the body with the server's limits before FastAPI does, and turns errors into responses of this protocol."""

    def get_route_handler(self) -> Handler:
        handle = super().get_route_handler()

        async def read_and_handle(request: Request) -> Response:
            protocol_version.version_of(request)
            if not _is_upload(request):
                await read_body(request)
            return await handle(request)

        return partial(handle_errors, read_and_handle)


def router(prefix: str, tag: str) -> APIRouter:
    return APIRouter(prefix=prefix, tags=[tag], route_class=SandboxRoute, responses=_ERROR_RESPONSES)


async def handle_errors(handle: Handler, request: Request) -> Response:
    """Return the response of `handle`, or that of the error it raises."""
    try:
        response = await handle(request)
    except ClientDisconnect:
        raise
    except (SandboxError, RequestValidationError, ValidationError, HTTPException) as error:
        response = error_response(error, request)
    except Exception as error:
        message = errors.internal_error(request, error)
        response = status_response(500, message, request)
    response.headers["X-Request-ID"] = request_id(request)
    return response


def _is_upload(request: Request) -> bool:
    """Return whether the body may be a file, which is streamed and not read in advance."""
    return request.method == "PUT" and "/files/" in request.url.path


def model_response(request: Request, model: BaseModel, status: int = 200) -> Response:
    """Return the model as JSON, without fields that are None."""
    text = model.model_dump_json(exclude_none=True)
    version = f"v{protocol_version.version_of(request)}"
    return Response(text, status, {"API-Version": version}, protocol_version.media_type_of(request))


def request_id(request: Request) -> str:
    """Return the client's X-Request-ID if it is valid, otherwise a random one. It stays the same during the request."""
    known: str | None = getattr(request.state, "request_id", None)
    if known is None:
        header = request.headers.get("x-request-id", "")
        known = request.state.request_id = header if _REQUEST_ID.fullmatch(header) else secrets.token_hex(16)
    return known


def error_response(
    error: SandboxError | RequestValidationError | ValidationError | HTTPException, request: Request
) -> JSONResponse:
    if isinstance(error, (RequestValidationError, ValidationError)):
        problems = _problems(error)
        message = f"invalid request: {problems[0]['field']}: {problems[0]['message']}"
        return status_response(400, message, request, problems)
    if isinstance(error, HTTPException):
        return status_response(error.status_code, str(error.detail), request)
    return status_response(status_of(error), str(error), request, headers=errors.headers_of(error))


def status_of(error: SandboxError) -> int:
    return next(STATUS_CODES[kind] for kind in type(error).__mro__ if kind in STATUS_CODES)


def status_response(
    status: int, message: str, request: Request, details: Any = None, headers: Mapping[str, str] | None = None
) -> JSONResponse:
    """Return an error in the shape of SandboxErrorResponse."""
    error = {
        "code": status,
        "message": message,
        "details": details or {"status": HTTPStatus(status).phrase},
        "timestamp": now(),
        "request_id": request_id(request),
    }
    return JSONResponse({"error": error}, status, dict(headers or {}))


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _problems(error: RequestValidationError | ValidationError) -> list[dict[str, str]]:
    """Return the invalid fields, without their values, which may be large or secret."""
    problems = error.errors()[:_MAX_PROBLEMS]
    return [{"field": ".".join(map(str, problem["loc"])) or "body", "message": str(problem["msg"])} for problem in problems]
