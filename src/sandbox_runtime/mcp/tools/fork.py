"""fork_sandbox."""

from __future__ import annotations

from sandbox_runtime.mcp.tools import sandboxes
from sandbox_runtime.mcp.tools.arguments import SandboxId
from sandbox_runtime.mcp.tools.sandboxes import SandboxResult
from sandbox_runtime.mcp.tools.tool import AnyTool, Arguments, Tool, ToolContext, ToolResponse


class ForkArguments(Arguments):
    sandbox_id: SandboxId


async def fork(ctx: ToolContext, arguments: ForkArguments) -> ToolResponse:
    """The host gives the copy its id, which is a UUID as well."""
    result = sandboxes.to_sandbox_result(await ctx.host.fork(arguments.sandbox_id.lower()), ctx.config.sandbox.default_image)
    metadata = {"sandbox_id": result.sandbox_id, "container_id": result.container_id}
    return ToolResponse(f"Sandbox forked successfully\n{result.model_dump_json(indent=2)}", result, metadata)


TOOLS: tuple[AnyTool, ...] = (
    Tool(
        "fork_sandbox",
        "Copy a sandbox",
        "Creates a copy of a sandbox in its current state, with its files and live Python contexts. Both continue independently.",
        ForkArguments,
        SandboxResult,
        fork,
        {"readOnlyHint": False, "destructiveHint": False},
    ),
)
