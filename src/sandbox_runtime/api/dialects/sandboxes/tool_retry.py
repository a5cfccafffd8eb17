"""One call of a tool: within a time, and again where that helps."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Any

from sandbox_runtime.api.caller import Caller
from sandbox_runtime.api.dialects.sandboxes import schemas
from sandbox_runtime.api.dialects.sandboxes.responses import now
from sandbox_runtime.api.dialects.sandboxes.tool_provider import Offer, Tell
from sandbox_runtime.retry import Backoff, retry


async def attempted(
    offer: Offer, name: str, asked: schemas.ExecuteTool, caller: Caller, tell: Tell | None = None
) -> schemas.ToolResult:
    """Whoever cancels this ends what the tool began. Raises NotFound for a tool that there is not."""
    begun = time.monotonic()
    called = await _called(offer, name, asked, caller, tell)
    return schemas.ToolResult(
        result=called["result"],
        is_error=called["is_error"],
        status="failed" if called["is_error"] else "completed",
        duration=round(time.monotonic() - begun, 6),
        timestamp=now(),
        metadata=dict(called["metadata"]) or None,
    )


async def _called(offer: Offer, name: str, asked: schemas.ExecuteTool, caller: Caller, tell: Tell | None) -> Mapping[str, Any]:
    """Within the time of the options, however often it is tried."""
    policy = asked.options.retry_policy
    backoff = Backoff(policy.max_retries, policy.initial_delay, policy.backoff_factor, policy.max_delay)

    async def call() -> Mapping[str, Any]:
        return await offer.call(name, asked.arguments, caller.owner, caller.grants.max_sessions, tell)

    try:
        async with asyncio.timeout(asked.options.timeout):
            return await retry(call, backoff, retry_result=lambda called: called["transient"])
    except TimeoutError:
        pass
    told = f"it took longer than the {asked.options.timeout:g} s that options.timeout allows"
    return {"result": told, "is_error": True, "metadata": {"error_code": "EXECUTION_TIMEOUT"}, "transient": False}
