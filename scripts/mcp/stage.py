"""The MCP server with tools that the conformance suite names: everything around the tools is the product's.

python scripts/mcp/stage.py PORT
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import uvicorn
from pydantic import BaseModel, ConfigDict
from starlette.applications import Starlette

from sandbox_runtime.mcp.config import McpConfig
from sandbox_runtime.mcp.server import Door
from sandbox_runtime.mcp.tools import codes
from sandbox_runtime.mcp.tools.tool import Answer, AnyTool, Arguments, Call, Image, Result, Tool
from sandbox_runtime.mcp.transports.mounting import open_routes

RED_DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
PAUSE_S = 0.4
"""Longer than the server waits before it sends on what was printed."""


class Nothing(Arguments):
    pass


class Said(Result):
    text: str


class address(BaseModel):
    """Called as the suite calls it."""

    street: str = ""
    city: str = ""


class Newer(Arguments):
    model_config = ConfigDict(
        extra="forbid", frozen=True, json_schema_extra={"$schema": "https://json-schema.org/draft/2020-12/schema"}
    )
    name: str = ""
    home: address = address()


def said(text: str, *images: Image) -> Answer:
    return Answer(text, Said(text=text), images=images)


async def text(_call: Call, _asked: Arguments) -> Answer:
    return said("This is a simple text response for testing.")


async def image(_call: Call, _asked: Arguments) -> Answer:
    return said("A red dot.", Image("image/png", RED_DOT))


async def error(_call: Call, _asked: Arguments) -> Answer:
    raise codes.ToolFailure("INTENDED", "This tool intentionally returns an error for testing")


async def printing(call: Call, *lines: str) -> Answer:
    assert call.sink is not None
    for line in lines:
        call.sink("stdout", f"{line}\n")
        await asyncio.sleep(PAUSE_S)
    return said("done")


async def logging(call: Call, _asked: Arguments) -> Answer:
    return await printing(call, "Tool execution started", "Tool processing data", "Tool execution completed")


async def progress(call: Call, _asked: Arguments) -> Answer:
    return await printing(call, "1/100", "50/100", "100/100")


def tools() -> dict[str, AnyTool]:
    made = {
        "test_simple_text": (text, Nothing),
        "test_image_content": (image, Nothing),
        "test_error_handling": (error, Nothing),
        "test_tool_with_logging": (logging, Nothing),
        "test_tool_with_progress": (progress, Nothing),
        "json_schema_2020_12_tool": (text, Newer),
    }
    return {name: Tool(name, name, "For the conformance suite.", takes, Said, act) for name, (act, takes) in made.items()}


def no_place(_request: Any) -> Any:
    """Given to every tool, and used by none of these."""
    return None


async def serve(port: int) -> None:
    door = Door(McpConfig(), no_place, "0", tools())
    async with open_routes(door, lambda _scope: "") as routes:
        config = uvicorn.Config(Starlette(routes=routes), host="127.0.0.1", port=port, lifespan="off", log_level="warning")
        await uvicorn.Server(config).serve()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1])))
