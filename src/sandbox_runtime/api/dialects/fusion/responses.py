"""Turn results and failures into answers of this protocol, for the routes that run something and for those of the judge."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from fastapi import Request
from fastapi.responses import JSONResponse, Response
from pydantic import ValidationError
from starlette.requests import ClientDisconnect

from sandbox_runtime.api import errors
from sandbox_runtime.api.dialects.fusion.mapping.languages import language_error
from sandbox_runtime.api.dialects.fusion.schemas.judge import DatasetRequest
from sandbox_runtime.api.dialects.fusion.schemas.programs import Json
from sandbox_runtime.api.disconnect import cancel_on_disconnect
from sandbox_runtime.api.requests import offload_if_large, platform_of, read_body
from sandbox_runtime.errors import InvalidRequest, NotFound, RequestError, SandboxError, TooMany

if TYPE_CHECKING:
    from sandbox_runtime.assembly import Platform

OVERLOADED = 504
"""The only status on which the known clients of this protocol retry."""

JUDGE_STATUS_CODES: Mapping[type[SandboxError], int] = MappingProxyType(
    {SandboxError: 500, RequestError: 400, NotFound: 500, TooMany: OVERLOADED}
)
_MAX_INLINE_ITEMS = 100
"""Longer lists are written as JSON in a thread, so that other requests are served meanwhile."""

Body = TypeVar("Body", bound=DatasetRequest)


async def run_response(request: Request, run: Awaitable[Json], to_fault: Callable[[str], Json]) -> Response:
    """Await the run and return its answer. Cancel it if the client disconnects.

    An invalid request and overload are HTTP errors. Any other failure is a 200 with the body that `to_fault` makes
    of the message.
    """
    try:
        answer = await cancel_on_disconnect(request, run)
        return await offload_if_large(_size(answer), json_response, answer)
    except TooMany as error:
        return errors.error_response(error, OVERLOADED)
    except (InvalidRequest, ClientDisconnect):
        raise
    except SandboxError as error:
        message = str(error)
    except Exception as error:
        message = errors.internal_error(request, error)
    return json_response(to_fault(message))


def _size(answer: Json) -> int:
    """Return the length of the texts that may be long: files and output."""
    files = answer.get("files")
    streams = (part.get(name) for part in answer.values() if isinstance(part, dict) for name in ("stdout", "stderr"))
    fetched = files.values() if isinstance(files, dict) else ()
    return sum(len(text) for text in (*streams, *fetched) if isinstance(text, str))


def json_response(answer: Json) -> Response:
    return Response(json.dumps(answer, ensure_ascii=False).encode(), media_type="application/json")


async def judge_response(
    request: Request, model: type[Body], handle: Callable[[Platform, Body], Awaitable[Response]]
) -> Response:
    """Read the body, call `handle` with it and return its response. Cancel it if the client disconnects.

    Returns 422 for a body that does not fit the model, 400 for other errors of the request, 504 for overload, and 500 for an
    unknown row and for failures of the server. None of these is a verdict.
    """
    platform = platform_of(request)
    try:
        raw = await read_body(request)
        body = await offload_if_large(len(raw), model.model_validate_json, raw)
    except ValidationError as error:
        return invalid(error)
    language = body.config.language
    if language is not None and (problem := language_error(platform.catalog, language)):
        return invalid_field("language", problem)
    try:
        return await cancel_on_disconnect(request, handle(platform, body))
    except SandboxError as error:
        return _judge_error(error)


def _judge_error(error: SandboxError) -> Response:
    status = next(JUDGE_STATUS_CODES[kind] for kind in type(error).__mro__ if kind in JUDGE_STATUS_CODES)
    if isinstance(error, NotFound):
        return JSONResponse({"detail": str(error), "traceback": [str(error)]}, status)
    return errors.error_response(error, status)


async def escaped_json_response(answer: Any) -> Response:
    """Return the answer as ASCII JSON: rows may hold lone surrogates, which UTF-8 cannot encode."""
    if isinstance(answer, list) and len(answer) > _MAX_INLINE_ITEMS:
        text = await asyncio.to_thread(json.dumps, answer)
    else:
        text = json.dumps(answer)
    return Response(text.encode(), media_type="application/json")


def invalid(error: ValidationError) -> JSONResponse:
    """Return a 422 in FastAPI's shape, without the input, which may be large or not text."""
    return _unprocessable(error.errors(include_url=False, include_context=False, include_input=False))


def invalid_field(name: str, text: str) -> JSONResponse:
    """Return a 422 for a field that only the platform can check."""
    return _unprocessable([{"type": "value_error", "loc": (name,), "msg": text}])


def _unprocessable(problems: Iterable[Any]) -> JSONResponse:
    return JSONResponse({"detail": [{**problem, "loc": ["body", *problem["loc"]]} for problem in problems]}, 422)
