"""Waiting for the end of what runs in a sandbox."""

from __future__ import annotations

import asyncio

from sandbox_runtime.api.dialects.sandboxes import wire
from sandbox_runtime.model import Execution
from sandbox_runtime.sessions import ExecutionSpec, Sessions

AT_ONCE_S = 0.1
QUEUE_S = 300.0


async def ran(sessions: Sessions, sandbox_id: str, spec: ExecutionSpec, owner: str) -> Execution:
    """Its end. Whoever cancels this ends the program as well."""
    begun = await sessions.execute(sandbox_id, spec, wait_s=AT_ONCE_S, owner=owner)
    if begun.state.ended:
        return begun
    try:
        return await sessions.wait(begun.id, (spec.timeout_s or wire.LONGEST_S) + QUEUE_S, owner)
    except BaseException:
        await asyncio.shield(sessions.cancel(begun.id, owner))
        raise
