"""How this protocol answers: models as JSON in the version that was asked for, and errors in its one shape."""

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
from sandbox_runtime.api.dialects.sandboxes.schemas import SandboxRefusal
from sandbox_runtime.api.requests import read_body
from sandbox_runtime.errors import InvalidRequest, SandboxError, TooMany

Handler = Callable[[Request], Coroutine[Any, Any, Response]]
STATUS_CODES: Mapping[type[SandboxError], int] = MappingProxyType({**errors.STATUS_CODES, InvalidRequest: 400, TooMany: 429})
_MOST_TOLD = 20
_PLAIN = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_REFUSALS: dict[int | str, dict[str, Any]] = {
    422: {"model": SandboxRefusal, "description": "Not used: what does not fit is 400"},
    "default": {"model": SandboxRefusal, "description": "What went wrong; error.code is the status"},
}


class SandboxRoute(APIRoute):
    def get_route_handler(self) -> Handler:
        handle = super().get_route_handler()

        async def whole(request: Request) -> Response:
            protocol_version.version_of(request)
            if not _may_be_long(request):
                await read_body(request)
            return await handle(request)

        return partial(answered, whole)


def router(prefix: str, tag: str) -> APIRouter:
    return APIRouter(prefix=prefix, tags=[tag], route_class=SandboxRoute, responses=_REFUSALS)


async def answered(handle: Handler, request: Request) -> Response:
    try:
        response = await handle(request)
    except ClientDisconnect:
        raise
    except (SandboxError, RequestValidationError, ValidationError, HTTPException) as error:
        response = error_answer(error, request)
    except Exception as error:
        told = errors.internal_error(request, error)
        response = refusal(500, told, request)
    response.headers["X-Request-ID"] = request_id(request)
    return response


def _may_be_long(request: Request) -> bool:
    """Bodies that are files are read as they come."""
    return request.method == "PUT" and "/files/" in request.url.path


def answer(request: Request, model: BaseModel, status: int = 200) -> Response:
    """What has no value is left out."""
    text = model.model_dump_json(exclude_none=True)
    version = f"v{protocol_version.version_of(request)}"
    return Response(text, status, {"API-Version": version}, protocol_version.media_type_of(request))


def request_id(request: Request) -> str:
    """As the client calls it, or a name of our own; the same for all of one request."""
    known: str | None = getattr(request.state, "request_id", None)
    if known is None:
        given = request.headers.get("x-request-id", "")
        known = request.state.request_id = given if _PLAIN.fullmatch(given) else secrets.token_hex(16)
    return known


def error_answer(
    error: SandboxError | RequestValidationError | ValidationError | HTTPException, request: Request
) -> JSONResponse:
    if isinstance(error, (RequestValidationError, ValidationError)):
        problems = _problems(error)
        return refusal(400, f"the request does not fit: {problems[0]['field']}: {problems[0]['message']}", request, problems)
    if isinstance(error, HTTPException):
        return refusal(error.status_code, str(error.detail), request)
    return refusal(status_of(error), str(error), request, headers=errors.headers_of(error))


def status_of(error: SandboxError) -> int:
    return next(STATUS_CODES[kind] for kind in type(error).__mro__ if kind in STATUS_CODES)


def refusal(
    status: int, text: str, request: Request, details: Any = None, headers: Mapping[str, str] | None = None
) -> JSONResponse:
    told: dict[str, Any] = {"code": status, "message": text, "details": details or {"status": HTTPStatus(status).phrase}}
    told |= {"timestamp": now(), "request_id": request_id(request)}
    return JSONResponse({"error": told}, status, dict(headers or {}))


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _problems(error: RequestValidationError | ValidationError) -> list[dict[str, str]]:
    """What was sent is not repeated: it may be large, or a secret."""
    found = error.errors()[:_MOST_TOLD]
    return [{"field": ".".join(map(str, one["loc"])) or "body", "message": str(one["msg"])} for one in found]
