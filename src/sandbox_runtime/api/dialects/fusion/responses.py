"""What the routes that run something share: which failure becomes which answer of the protocol."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from fastapi import Request
from fastapi.responses import JSONResponse, Response
from pydantic import ValidationError
from starlette.requests import ClientDisconnect

from sandbox_runtime.api import errors
from sandbox_runtime.api.dialects.fusion.schemas.programs import Json
from sandbox_runtime.api.disconnect import while_present
from sandbox_runtime.api.requests import in_turn
from sandbox_runtime.errors import InvalidRequest, SandboxError, TooMany

OVERLOADED = 504
"""The one status on which the known clients of this protocol try again."""


async def answered(request: Request, work: Awaitable[Json], fault_of: Callable[[str], Json]) -> Response:
    """The answer that the work gives. Whatever fails on our side is no HTTP error but what fault_of makes of its text; a wrong
    request is one, and so is overload. When the client hangs up the work is cancelled."""
    try:
        answer = await while_present(request, work)
        return await in_turn(_size(answer), as_json, answer)
    except TooMany as error:
        return errors.answer(error, OVERLOADED)
    except (InvalidRequest, ClientDisconnect):
        raise
    except SandboxError as error:
        message = str(error)
    except Exception as error:
        message = f"internal error; the server's log tells more under {errors.report(request, error)}"
    return as_json(fault_of(message))


def _size(answer: Json) -> int:
    """The texts of an answer that may be long: files, and what was printed."""
    files = answer.get("files")
    streams = (part.get(name) for part in answer.values() if isinstance(part, dict) for name in ("stdout", "stderr"))
    fetched = files.values() if isinstance(files, dict) else ()
    return sum(len(text) for text in (*streams, *fetched) if isinstance(text, str))


def as_json(answer: Json) -> Response:
    return Response(json.dumps(answer, ensure_ascii=False).encode(), media_type="application/json")


def invalid(error: ValidationError) -> JSONResponse:
    """In the framework's own shape, without the input: it may be large, or not even text."""
    return _unprocessable(error.errors(include_url=False, include_context=False, include_input=False))


def invalid_field(name: str, text: str) -> JSONResponse:
    """The same for what only the platform can judge."""
    return _unprocessable([{"type": "value_error", "loc": (name,), "msg": text}])


def _unprocessable(found: Iterable[Any]) -> JSONResponse:
    return JSONResponse({"detail": [{**one, "loc": ["body", *one["loc"]]} for one in found]}, 422)
