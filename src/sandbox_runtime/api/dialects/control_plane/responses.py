"""Responses of this protocol: models as JSON, and errors in both of its shapes.

Every response has X-Request-ID and X-Process-Time. A client may choose the request id; an id with other than plain characters is
replaced, so nothing a client sends reaches headers or logs unchecked.
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from http import HTTPStatus
from types import MappingProxyType
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from sandbox_runtime.api import errors
from sandbox_runtime.api.dialects.control_plane.schemas.common import ErrorResponse
from sandbox_runtime.api.requests import read_body
from sandbox_runtime.errors import InvalidRequest, SandboxError, TooMany

Handler = Callable[[Request], Coroutine[Any, Any, Response]]
STATUS_CODES: Mapping[type[SandboxError], int] = MappingProxyType({**errors.STATUS_CODES, InvalidRequest: 400, TooMany: 429})
ERROR_CODES: Mapping[int, str] = MappingProxyType(
    {
        400: "Sandbox.InvalidParameter",
        404: "Sandbox.SessionNotFound",
        408: "Sandbox.ExecTimeout",
        409: "Sandbox.ExecException",
        422: "Sandbox.InvalidParameter",
        429: "Sandbox.TooManyRequestsExection",
        500: "Sandbox.InternalError",
        501: "Sandbox.InternalError",
        507: "Sandbox.TooManyRequestsExection",
    }
)
_SOLUTIONS: Mapping[int, str] = MappingProxyType(
    {
        400: "Correct the request as the description says.",
        404: "List what exists, or create it first.",
        408: "Request the result later, or allow more time.",
        409: "Check the current state, then retry.",
        422: "Correct the fields in error_detail.",
        429: "Wait as long as Retry-After says.",
        507: "Delete sessions, files or batches that are no longer needed, or retry later.",
    }
)
_ERROR_RESPONSES: dict[int | str, dict[str, Any]] = {
    422: {"model": ErrorResponse, "description": "The request is invalid; error_detail lists the fields"},
    "default": {"model": ErrorResponse, "description": "An error; see the status"},
}
_NOT_FOUND = {404: {"model": ErrorResponse, "description": "Does not exist, or belongs to another owner"}}
_METHODS_WITH_BODY = frozenset({"POST", "PATCH"})
"""Their bodies are read before the handler runs, with a time limit. PUT is for files, which may be long."""
_REQUEST_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")


class ControlPlaneRoute(APIRoute):
    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        """Document 404 for every path with a parameter."""
        not_found = _NOT_FOUND if "{" in path else {}
        super().__init__(path, endpoint, **{**options, "responses": {**not_found, **(options.get("responses") or {})}})

    def get_route_handler(self) -> Handler:
        handle = super().get_route_handler()

        async def handle_with_body(request: Request) -> Response:
            if request.method in _METHODS_WITH_BODY and _is_json(request):
                await read_body(request)
            return await handle(request)

        return partial(respond, handle_with_body)


async def respond(handle: Handler, request: Request) -> Response:
    """Return the handler's response, or an error response if it raises, with the headers of every response."""
    started_s = time.perf_counter()
    try:
        response = await handle(request)
    except ClientDisconnect:
        raise
    except (SandboxError, RequestValidationError, HTTPException) as error:
        response = exception_response(error, request.url.path)
    except Exception as error:
        response = error_response(500, errors.internal_error(request, error), request.url.path)
    response.headers["X-Request-ID"] = request_id(request)
    response.headers["X-Process-Time"] = f"{time.perf_counter() - started_s:.6f}"
    return response


def _is_json(request: Request) -> bool:
    media_type = request.headers.get("content-type", "application/json").partition(";")[0]
    return media_type.strip().lower().endswith("json")


def new_router(prefix: str, tag: str) -> APIRouter:
    return APIRouter(prefix=prefix, tags=[tag], route_class=ControlPlaneRoute, responses=_ERROR_RESPONSES)


def returns(model: Any, status: int = 200, **texts: str) -> dict[int | str, dict[str, Any]]:
    """Return the `responses` of a route for its documentation. Errors: status_409="The id is taken"."""
    responses: dict[int | str, dict[str, Any]] = {status: {"model": model}}
    for name, text in texts.items():
        responses[int(name.removeprefix("status_"))] = {"model": ErrorResponse, "description": text}
    return responses


def json_response(model: BaseModel, status: int = 200) -> Response:
    return Response(model.model_dump_json(), status, media_type="application/json")


def request_id(request: Request) -> str:
    given = request.headers.get("x-request-id", "")
    return given if _REQUEST_ID.fullmatch(given) else secrets.token_hex(16)


def exception_response(error: SandboxError | RequestValidationError | HTTPException, path: str = "") -> JSONResponse:
    if isinstance(error, RequestValidationError):
        return error_response(422, "the request is invalid: see detail", path, detail=_field_errors(error))
    if isinstance(error, HTTPException):
        return error_response(error.status_code, str(error.detail), path, dict(error.headers or {}))
    status = next(STATUS_CODES[kind] for kind in type(error).__mro__ if kind in STATUS_CODES)
    return error_response(status, str(error), path, errors.headers_of(error))


def error_response(
    status: int, text: str, path: str = "", headers: Mapping[str, str] | None = None, detail: Any = None
) -> JSONResponse:
    detail = text if detail is None else detail
    body = {
        "error": HTTPStatus(status).phrase,
        "message": text,
        "detail": detail,
        "error_code": error_code(status, path),
        "description": text,
        "error_detail": detail,
        "solution": _SOLUTIONS.get(status, "See the server log."),
    }
    return JSONResponse(body, status, dict(headers or {}))


def error_code(status: int, path: str) -> str:
    """For 404 the path decides whether a session or an execution was not found."""
    if status == 404 and "/executions/" in path and "/executions/sessions/" not in path:
        return "Sandbox.ExecutionNotFound"
    return ERROR_CODES.get(status, "Sandbox.InternalError" if status >= 500 else "Sandbox.InvalidParameter")


def _field_errors(error: RequestValidationError) -> list[dict[str, Any]]:
    """Leave out the input: it may be large, or a secret."""
    return [{"loc": list(problem["loc"]), "msg": problem["msg"], "type": problem["type"]} for problem in error.errors()]
