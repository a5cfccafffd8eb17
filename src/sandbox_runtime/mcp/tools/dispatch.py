"""Call a tool. Invalid arguments and errors become responses with an error code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from sandbox_runtime.errors import Denied, SandboxError
from sandbox_runtime.mcp.tools import error_codes
from sandbox_runtime.mcp.tools.tool import AnyTool, ToolContext, ToolResponse


async def call_tool(tool: AnyTool, ctx: ToolContext, arguments: Mapping[str, Any]) -> ToolResponse:
    """Validate the arguments and run the tool. Raises Denied, which is not a failure of the tool."""
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
    details = error.errors()[:10]
    texts = "; ".join(f"{'.'.join(map(str, detail['loc'])) or 'arguments'}: {detail['msg']}" for detail in details)
    return f"invalid arguments: {texts}"
