"""Read requests: the platform that serves them, and their bodies, with time limits."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any, TypeVar

from fastapi import HTTPException, Request

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.model.bounds import JSON_VALUES, check_json_values

if TYPE_CHECKING:
    from sandbox_runtime.assembly import Platform

BODY_TIMEOUT_S = 60.0
CHUNK_TIMEOUT_S = 60.0
OFFLOAD_BYTES = 1024 * 1024
"""Bodies of this size and more are parsed, and responses are written, in a thread."""

T = TypeVar("T")


def platform_of(request: Request) -> Platform:
    platform: Platform = request.app.state.platform
    return platform


async def read_body(request: Request, *, raw: bool = False) -> bytes:
    """Read the whole body. Raises 408 if it does not arrive in time and 413 if it holds too many JSON values.

    raw: the body is not JSON, so do not count its values.
    """
    try:
        async with asyncio.timeout(BODY_TIMEOUT_S):
            body = await request.body()
    except TimeoutError as error:
        raise HTTPException(408, f"the request body did not arrive within {BODY_TIMEOUT_S:g} s") from error
    if not raw:
        max_values = getattr(request.app.state, "max_request_values", JSON_VALUES)
        await offload_if_large(len(body), _check_values, body, max_values)
    return body


async def body_chunks(request: Request) -> AsyncIterator[bytes]:
    """Yield a body of any length as it arrives. Raises 408 if the client sends nothing for CHUNK_TIMEOUT_S."""
    stream = request.stream()
    while True:
        try:
            async with asyncio.timeout(CHUNK_TIMEOUT_S):
                chunk = await anext(stream, None)
        except TimeoutError as error:
            raise HTTPException(408, f"the client sent nothing of the request body for {CHUNK_TIMEOUT_S:g} s") from error
        if chunk is None:
            return
        yield chunk


async def offload_if_large(size: int, function: Callable[..., T], *arguments: Any) -> T:
    """Call the function, in a thread if it works on many bytes, so that the event loop stays free for other requests."""
    return function(*arguments) if size < OFFLOAD_BYTES else await asyncio.to_thread(function, *arguments)


def _check_values(body: bytes, max_values: int) -> None:
    try:
        check_json_values(body, "the request body", max_values)
    except InvalidRequest as error:
        raise HTTPException(413, f"{error}, or raise max_request_values (SANDBOX_MAX_REQUEST_VALUES)") from error
