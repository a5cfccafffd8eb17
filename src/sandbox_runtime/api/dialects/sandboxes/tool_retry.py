"""Call a tool within a timeout, with retries."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Any

from sandbox_runtime.api.caller import Caller
from sandbox_runtime.api.dialects.sandboxes.responses import now
from sandbox_runtime.api.dialects.sandboxes.schemas.tools import ExecuteToolRequest, ToolResult
from sandbox_runtime.api.dialects.sandboxes.tool_provider import Emit, ToolProvider
from sandbox_runtime.retry import Backoff, retry


async def call_tool(
    provider: ToolProvider, name: str, body: ExecuteToolRequest, caller: Caller, emit: Emit | None = None
) -> ToolResult:
    """Return the result of the last attempt. Cancelling stops the tool. Raises NotFound for an unknown tool."""
    started_s = time.monotonic()
    result = await _call_with_retries(provider, name, body, caller, emit)
    return ToolResult(
        result=result["result"],
        is_error=result["is_error"],
        status="failed" if result["is_error"] else "completed",
        duration=round(time.monotonic() - started_s, 6),
        timestamp=now(),
        metadata=dict(result["metadata"]) or None,
    )


async def _call_with_retries(
    provider: ToolProvider, name: str, body: ExecuteToolRequest, caller: Caller, emit: Emit | None
) -> Mapping[str, Any]:
    """The timeout covers all attempts."""
    policy = body.options.retry_policy
    backoff = Backoff(policy.max_retries, policy.initial_delay, policy.backoff_factor, policy.max_delay)

    async def call() -> Mapping[str, Any]:
        return await provider.call(name, body.arguments, caller.owner, caller.grants.max_sessions, emit)

    try:
        async with asyncio.timeout(body.options.timeout):
            return await retry(call, backoff, retry_result=lambda result: result["transient"])
    except TimeoutError:
        pass
    message = f"the tool took longer than options.timeout ({body.options.timeout:g} s)"
    return {"result": message, "is_error": True, "metadata": {"error_code": "EXECUTION_TIMEOUT"}, "transient": False}
