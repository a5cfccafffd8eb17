"""What the routes share: reading a message, and answering in the protocol's form whatever happens."""

from __future__ import annotations

import json
from collections.abc import Awaitable
from typing import Any, TypeVar

from fastapi import Request
from fastapi.responses import Response
from pydantic import BaseModel, ValidationError

from sandbox_runtime.api.caller import caller_of
from sandbox_runtime.api.dialects.workspace import errors
from sandbox_runtime.api.dialects.workspace.implicit_sessions import Room
from sandbox_runtime.api.dialects.workspace.schemas import Failed, HandlerFailed, Json
from sandbox_runtime.api.requests import body_of, platform_of
from sandbox_runtime.errors import SandboxError

Model = TypeVar("Model", bound=BaseModel)


def room_of(request: Request, session_id: str) -> Room:
    return Room(platform_of(request), session_id, caller_of(request))


async def message(request: Request, kind: type[Model], *, optional: bool = False) -> Model:
    """Raises ValidationError. optional: no body is the same as an empty object."""
    body = await body_of(request)
    return kind.model_validate_json(b"{}" if optional and not body.strip() else body)


async def answered(work: Awaitable[Json], table: errors.Table = errors.OF_SESSION) -> Response:
    try:
        return as_json(await work)
    except ValidationError as error:
        return errors.invalid(error)
    except SandboxError as error:
        return errors.answer(error, table)


def as_json(answer: Json) -> Response:
    return Response(json.dumps(answer, ensure_ascii=False).encode(errors="replace"), media_type="application/json")


def described(
    request: type[BaseModel] | None = None, answer: type[BaseModel] | None = None, table: errors.Table = errors.OF_SESSION
) -> dict[str, Any]:
    """For the description of a route that reads its body by itself. table: which errors it answers with what."""
    extra: dict[str, Any] = {"responses": refusals(table)}
    if request is not None:
        content = {"application/json": {"schema": request.model_json_schema()}}
        extra["openapi_extra"] = {"requestBody": {"required": True, "content": content}}
    if answer is not None:
        extra["responses"][200] = {"model": answer}
    return extra


def refusals(table: errors.Table) -> dict[int | str, dict[str, Any]]:
    codes: dict[int, list[str]] = {}
    for status, code in table.values():
        codes.setdefault(status, []).append(code)
    model = HandlerFailed if table is errors.OF_HANDLER else Failed
    if table is not errors.OF_HANDLER:
        codes[422] = ["INVALID_REQUEST"]
    return {status: {"model": model, "description": ", ".join(dict.fromkeys(found))} for status, found in sorted(codes.items())}
