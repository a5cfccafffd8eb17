"""One call of a tool, from what was sent to an Answer: wrong arguments and errors are answers too, with their codes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from sandbox_runtime.errors import Denied, SandboxError
from sandbox_runtime.mcp.tools import error_codes
from sandbox_runtime.mcp.tools.tool import Answer, AnyTool, Call


async def called(tool: AnyTool, call: Call, given: Mapping[str, Any]) -> Answer:
    """Raises Denied: what a caller may not do is no failure of the tool."""
    try:
        return await tool.act(call, tool.takes.model_validate(given))
    except Denied:
        raise
    except SandboxError as error:
        return failure(error_codes.code_of(error), str(error))
    except error_codes.ToolFailure as error:
        return failure(error.code, str(error))
    except ValidationError as error:
        return failure(error_codes.INVALID_PARAMETERS, complaint(error))


def failure(code: str, message: str) -> Answer:
    return Answer(f"Error: {message}\nCode: {code}", None, {"error_code": code, "error_message": message}, code)


def complaint(error: ValidationError) -> str:
    told = "; ".join(f"{'.'.join(map(str, one['loc'])) or 'arguments'}: {one['msg']}" for one in error.errors()[:10])
    return f"the arguments do not fit: {told}"
