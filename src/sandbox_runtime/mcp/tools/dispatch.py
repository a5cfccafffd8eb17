"""One call of a tool, from what was sent to an ToolResponse: wrong arguments and errors are answers too, with their codes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from sandbox_runtime.errors import Denied, SandboxError
from sandbox_runtime.mcp.tools import error_codes
from sandbox_runtime.mcp.tools.tool import AnyTool, ToolContext, ToolResponse


async def call_tool(tool: AnyTool, ctx: ToolContext, arguments: Mapping[str, Any]) -> ToolResponse:
    """Raises Denied: what a caller may not do is no failure of the tool."""
    try:
        return await tool.run(ctx, tool.arguments_model.model_validate(arguments))
    except Denied:
        raise
    except SandboxError as error:
        return failure(error_codes.error_code_of(error), str(error))
    except error_codes.ToolFailure as error:
        return failure(error.code, str(error))
    except ValidationError as error:
        return failure(error_codes.INVALID_PARAMETERS, describe_error(error))


def failure(code: str, message: str) -> ToolResponse:
    return ToolResponse(f"Error: {message}\nCode: {code}", None, {"error_code": code, "error_message": message}, code)


def describe_error(error: ValidationError) -> str:
    told = "; ".join(f"{'.'.join(map(str, one['loc'])) or 'arguments'}: {one['msg']}" for one in error.errors()[:10])
    return f"the arguments do not fit: {told}"
