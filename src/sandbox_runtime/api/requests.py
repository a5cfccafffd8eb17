"""Reading requests: the platform they are served by, and bodies with a time limit."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any, TypeVar

from fastapi import HTTPException, Request

from sandbox_runtime.assembly import Platform
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.model.bounds import JSON_VALUES, check_json_values

BODY_WITHIN_S = 60.0
PIECE_WITHIN_S = 60.0
LARGE_BYTES = 1024 * 1024
"""From here on bodies are parsed, and answers written, in a thread."""

T = TypeVar("T")


def platform_of(request: Request) -> Platform:
    platform: Platform = request.app.state.platform
    return platform


async def body_of(request: Request, *, raw: bool = False) -> bytes:
    """Read the whole body. Raises 408 where it does not arrive in time, and 413 where it holds too many JSON values.

    raw: it is not JSON, and is not parsed.
    """
    try:
        async with asyncio.timeout(BODY_WITHIN_S):
            body = await request.body()
    except TimeoutError as error:
        raise HTTPException(408, f"the request body did not arrive within {BODY_WITHIN_S:g} s") from error
    if not raw:
        most = getattr(request.app.state, "max_request_values", JSON_VALUES)
        await in_turn(len(body), _check_values, body, most)
    return body


async def in_turn(size: int, function: Callable[..., T], *arguments: Any) -> T:
    """Call the function, in a thread where it works on many bytes: others are served between its steps."""
    return function(*arguments) if size < LARGE_BYTES else await asyncio.to_thread(function, *arguments)


def _check_values(body: bytes, most: int) -> None:
    try:
        check_json_values(body, "the request body", most)
    except InvalidRequest as error:
        raise HTTPException(413, f"{error}, or raise max_request_values (SANDBOX_MAX_REQUEST_VALUES)") from error


async def pieces_of(request: Request) -> AsyncIterator[bytes]:
    """A body of any length, as it comes. Its client may be slow, but must not stand still."""
    stream = request.stream()
    while True:
        try:
            async with asyncio.timeout(PIECE_WITHIN_S):
                piece = await anext(stream, None)
        except TimeoutError as error:
            raise HTTPException(408, f"nothing more of the request body came within {PIECE_WITHIN_S:g} s") from error
        if piece is None:
            return
        yield piece
