"""How this protocol answers: models as JSON, errors in both of its shapes at once, and two headers on everything.

A request names itself with X-Request-ID, or gets a name; a name that is no plain word is replaced, so that nothing that a client
sends gets into our headers or logs as it is.
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
from sandbox_runtime.api.dialects.control_plane.schemas.errors import Refusal
from sandbox_runtime.api.requests import read_body
from sandbox_runtime.errors import InvalidRequest, SandboxError, TooMany

Handler = Callable[[Request], Coroutine[Any, Any, Response]]
STATUS_CODES: Mapping[type[SandboxError], int] = MappingProxyType({**errors.STATUS_CODES, InvalidRequest: 400, TooMany: 429})
CODE_OF_STATUS: Mapping[int, str] = MappingProxyType(
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
_SOLUTION_OF_STATUS: Mapping[int, str] = MappingProxyType(
    {
        400: "Correct the request as the description says.",
        404: "List what there is, or create it first.",
        408: "Ask for the result later, or allow more time.",
        409: "Look at the present state first, then try what fits it.",
        422: "Correct the fields that error_detail names.",
        429: "Wait for as long as Retry-After says.",
        507: "Delete sessions, files or batches that are no longer needed, or try again later.",
    }
)
_REFUSALS: dict[int | str, dict[str, Any]] = {
    422: {"model": Refusal, "description": "The request does not fit; error_detail names the fields"},
    "default": {"model": Refusal, "description": "What went wrong; the status says of which kind it is"},
}
_NOT_THERE = {404: {"model": Refusal, "description": "What is named is not there, or is somebody else's"}}
_WITH_BODY = frozenset({"POST", "PATCH"})
"""Whose bodies are read as a whole, and so within a time. PUT is for files, which are as long as they are."""
_PLAIN = re.compile(r"[A-Za-z0-9._:-]{1,128}")


class ControlPlaneRoute(APIRoute):
    def __init__(self, path: str, endpoint: Callable[..., Any], **more: Any) -> None:
        """What is named in the path may not be there; that goes into the description."""
        named = _NOT_THERE if "{" in path else {}
        super().__init__(path, endpoint, **{**more, "responses": {**named, **(more.get("responses") or {})}})

    def get_route_handler(self) -> Handler:
        handle = super().get_route_handler()

        async def whole(request: Request) -> Response:
            if request.method in _WITH_BODY and not _is_form(request):
                await read_body(request)
            return await handle(request)

        return partial(answered, whole)


async def answered(handle: Handler, request: Request) -> Response:
    """What the handler returns, or the answer to what it raised, with the headers that every answer has."""
    begun = time.perf_counter()
    try:
        response = await handle(request)
    except ClientDisconnect:
        raise
    except (SandboxError, RequestValidationError, HTTPException) as error:
        response = error_answer(error, request.url.path)
    except Exception as error:
        response = _unforeseen(request, error)
    response.headers["X-Request-ID"] = request_id(request)
    response.headers["X-Process-Time"] = f"{time.perf_counter() - begun:.6f}"
    return response


def _is_form(request: Request) -> bool:
    """Whether the body is none that is parsed as JSON."""
    kind = request.headers.get("content-type", "application/json").partition(";")[0]
    return not kind.strip().lower().endswith("json")


def router(prefix: str, tag: str) -> APIRouter:
    return APIRouter(prefix=prefix, tags=[tag], route_class=ControlPlaneRoute, responses=_REFUSALS)


def returns(model: Any, status: int = 200, **refusals: str) -> dict[int | str, dict[str, Any]]:
    """For the description of a route. refusals: when it answers with a status, as status_409="an id that is taken"."""
    told = {int(name.removeprefix("status_")): text for name, text in refusals.items()}
    return {status: {"model": model}, **{number: {"model": Refusal, "description": text} for number, text in told.items()}}


def answer(model: BaseModel, status: int = 200) -> Response:
    return Response(model.model_dump_json(), status, media_type="application/json")


def request_id(request: Request) -> str:
    given = request.headers.get("x-request-id", "")
    return given if _PLAIN.fullmatch(given) else secrets.token_hex(16)


def error_answer(error: SandboxError | RequestValidationError | HTTPException, path: str = "") -> JSONResponse:
    if isinstance(error, RequestValidationError):
        return refusal(422, "the request does not fit: see detail", path, detail=_problems(error))
    if isinstance(error, HTTPException):
        return refusal(error.status_code, str(error.detail), path, dict(error.headers or {}))
    status = next(STATUS_CODES[kind] for kind in type(error).__mro__ if kind in STATUS_CODES)
    return refusal(status, str(error), path, errors.headers_of(error))


def refusal(status: int, text: str, path: str = "", headers: Mapping[str, str] | None = None, detail: Any = None) -> JSONResponse:
    told = text if detail is None else detail
    body = {
        "error": HTTPStatus(status).phrase,
        "message": text,
        "detail": told,
        "error_code": code_of(status, path),
        "description": text,
        "error_detail": told,
        "solution": _SOLUTION_OF_STATUS.get(status, "See the server's log."),
    }
    return JSONResponse(body, status, dict(headers or {}))


def code_of(status: int, path: str) -> str:
    """What was not found, only the path tells."""
    if status == 404 and "/executions/" in path and "/executions/sessions/" not in path:
        return "Sandbox.ExecutionNotFound"
    return CODE_OF_STATUS.get(status, "Sandbox.InternalError" if status >= 500 else "Sandbox.InvalidParameter")


def _problems(error: RequestValidationError) -> list[dict[str, Any]]:
    """What was sent is not repeated: it may be large, or a secret."""
    return [{"loc": list(problem["loc"]), "msg": problem["msg"], "type": problem["type"]} for problem in error.errors()]


def _unforeseen(request: Request, error: Exception) -> JSONResponse:
    return refusal(500, errors.internal_error(request, error), request.url.path)
