"""The MCP server with tools and addresses that the conformance suite names: everything around them is the product's.

python scripts/mcp/stage.py PORT
"""

from __future__ import annotations

import asyncio
import base64
import json
import sys
from typing import cast

import uvicorn
from pydantic import BaseModel, ConfigDict
from starlette.applications import Starlette

from sandbox_runtime.mcp.config import McpConfig
from sandbox_runtime.mcp.places.port import Place
from sandbox_runtime.mcp.resources import Contents, Resources, Tell
from sandbox_runtime.mcp.server import Door
from sandbox_runtime.mcp.tools import codes
from sandbox_runtime.mcp.tools.tool import Answer, AnyTool, Arguments, Call, Image, Result, Tool
from sandbox_runtime.mcp.transports.mounting import open_routes

RED_DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
SANDBOX = "00000000-0000-4000-8000-000000000000"
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


class Files:
    """As much of a place as reading needs."""

    async def read(self, sandbox_id: str, name: str, most_bytes: int) -> bytes:
        return base64.b64decode(RED_DOT) if name.endswith(".png") else json.dumps({"id": name.split("/")[1]}).encode()


class Renamed(Resources):
    """The product's resources under the addresses that the suite asks for."""

    async def read(self, place: Place, uri: str) -> Contents:
        return [one.model_copy(update={"uri": uri}) for one in await super().read(place, product_uri(uri))]

    async def subscribe(self, place: Place, uri: str, connection: str, tell: Tell) -> None:
        await super().subscribe(place, product_uri(uri), connection, tell)


def product_uri(uri: str) -> str:
    fixed = {
        "test://static-text": "template://python",
        "test://watched-resource": "config://server",
        "test://static-binary": f"file://{SANDBOX}/dot.png",
    }
    return fixed.get(uri) or uri.replace("test://", f"file://{SANDBOX}/")


async def serve(port: int) -> None:
    config, files = McpConfig(), cast(Place, Files())
    door = Door(config, lambda _request: files, "0", tools(), Renamed(config, tools()))
    async with open_routes(door, lambda _scope: "") as routes:
        web = uvicorn.Config(Starlette(routes=routes), host="127.0.0.1", port=port, lifespan="off", log_level="warning")
        await uvicorn.Server(web).serve()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1])))
