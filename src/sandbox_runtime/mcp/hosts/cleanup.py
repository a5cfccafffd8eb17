"""Beginning something that must be ended again where its caller goes away."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

import anyio

from sandbox_runtime.errors import SandboxError

Started = TypeVar("Started")


async def start_or_undo(begin: Coroutine[Any, Any, Started], undo: Callable[[Started], Awaitable[object]]) -> Started:
    """What was begun. A caller who is cancelled meanwhile does not know yet what there is to undo, so it is begun to its end and
    then undone. In a task of its own: a scope that is shielded keeps off the cancelling of scopes, but not that of tasks."""
    task = asyncio.create_task(begin)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        with anyio.CancelScope(shield=True), contextlib.suppress(SandboxError):
            await undo(await task)
        raise
