"""What the routes of the judge share: which failure becomes which answer.

A wrong request is 400, a body that does not fit 422; a row that is not there and a failure behind the judge are 500. None of
these says anything of a completion.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from fastapi import Request
from fastapi.responses import JSONResponse, Response
from pydantic import ValidationError

from sandbox_runtime.api import errors
from sandbox_runtime.api.dialects.fusion.responses import OVERLOADED, invalid, invalid_field
from sandbox_runtime.api.dialects.fusion.schemas.judge import Question
from sandbox_runtime.api.dialects.fusion.supported_languages import unknown_language
from sandbox_runtime.api.disconnect import while_present
from sandbox_runtime.api.requests import body_of, in_turn, platform_of
from sandbox_runtime.assembly import Platform
from sandbox_runtime.errors import NotFound, RequestError, SandboxError, TooMany

_MANY = 100
"""From here on an answer is written in a thread, because others wait for this one."""

Asked = TypeVar("Asked", bound=Question)


async def answered(request: Request, model: type[Asked], work: Callable[[Platform, Asked], Awaitable[Response]]) -> Response:
    """What the work answers to what was asked. When the client hangs up the work is cancelled."""
    platform = platform_of(request)
    try:
        body = await body_of(request)
        asked = await in_turn(len(body), model.model_validate_json, body)
    except ValidationError as error:
        return invalid(error)
    language = asked.config.language
    if language is not None and (refusal := unknown_language(platform.catalog, language)):
        return invalid_field("language", refusal)
    try:
        return await while_present(request, work(platform, asked))
    except SandboxError as error:
        return _failed(error)


def _failed(error: SandboxError) -> Response:
    if isinstance(error, TooMany):
        return errors.answer(error, OVERLOADED)
    if isinstance(error, NotFound):
        return JSONResponse({"detail": str(error), "traceback": [str(error)]}, 500)
    return errors.answer(error, 400 if isinstance(error, RequestError) else 500)


async def written(answer: Any) -> Response:
    """Rows may hold what is no text in any encoding: escapes can tell even that."""
    if isinstance(answer, list) and len(answer) > _MANY:
        text = await asyncio.to_thread(json.dumps, answer)
    else:
        text = json.dumps(answer)
    return Response(text.encode(), media_type="application/json")
