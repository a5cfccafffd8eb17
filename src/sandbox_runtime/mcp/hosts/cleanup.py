"""Beginning something that must be ended again where its caller goes away."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

import anyio

from sandbox_runtime.errors import SandboxError

Begun = TypeVar("Begun")


async def begun_or_undone(begin: Coroutine[Any, Any, Begun], undo: Callable[[Begun], Awaitable[object]]) -> Begun:
    """What was begun. A caller who is cancelled meanwhile does not know yet what there is to undo, so it is begun to its end and
    then undone. In a task of its own: a scope that is shielded keeps off the cancelling of scopes, but not that of tasks."""
    task = asyncio.create_task(begin)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        with anyio.CancelScope(shield=True), contextlib.suppress(SandboxError):
            await undo(await task)
        raise
