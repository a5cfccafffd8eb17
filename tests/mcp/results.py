"""What tests read from the results of tool calls."""

from __future__ import annotations

import asyncio
from typing import Any

from mcp import Client
from mcp_types import CallToolResult, TextContent


def text(result: CallToolResult) -> str:
    first = result.content[0]
    assert isinstance(first, TextContent)
    return first.text


def figures(result: CallToolResult) -> dict[str, Any]:
    assert isinstance(result.structured_content, dict), text(result)
    return result.structured_content


async def nothing_runs_in(client: Client, sandbox_id: str) -> None:
    """A sandbox in which something runs cannot be copied: one that can has nothing left of it."""
    async with asyncio.timeout(60):
        while (copied := await client.call_tool("fork_sandbox", {"sandbox_id": sandbox_id})).is_error:
            assert "wait for them to end" in text(copied), text(copied)
    await client.call_tool("terminate_sandbox", {"sandbox_id": figures(copied)["sandbox_id"]})
