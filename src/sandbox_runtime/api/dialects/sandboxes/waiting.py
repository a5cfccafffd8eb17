"""Waiting for the end of what runs in a sandbox."""

from __future__ import annotations

import asyncio
import contextlib

from sandbox_runtime.api.dialects.sandboxes import schemas
from sandbox_runtime.errors import SandboxError
from sandbox_runtime.model import Execution
from sandbox_runtime.sessions import ExecutionSpec, Sessions

AT_ONCE_S = 0.1
QUEUE_S = 300.0


async def ran(sessions: Sessions, sandbox_id: str, spec: ExecutionSpec, owner: str) -> Execution:
    """Its end. Whoever cancels this ends the program as well."""
    begin = asyncio.create_task(sessions.execute(sandbox_id, spec, wait_s=AT_ONCE_S, owner=owner))
    try:
        begun = await asyncio.shield(begin)
    except asyncio.CancelledError:
        # Until it comes back nobody knows what there would be to cancel.
        with contextlib.suppress(SandboxError):
            await sessions.cancel((await begin).id, owner)
        raise
    if begun.state.ended:
        return begun
    try:
        return await sessions.wait(begun.id, (spec.timeout_s or schemas.LONGEST_S) + QUEUE_S, owner)
    except BaseException:
        await asyncio.shield(sessions.cancel(begun.id, owner))
        raise
