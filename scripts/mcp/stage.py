"""The MCP server with tools, prompts and addresses that the conformance suite names: everything around them is the product's.

    python scripts/mcp/stage.py PORT

Three layers. The application, its gate, transports and sandboxes are those of `mcp-sandboxd --http`. Tools that the product's own
kind of tool can express are such tools. The rest (`suite_content`, `suite_asking`) stands in front of the product's handlers.
"""

from __future__ import annotations

import asyncio
import base64
import sys
import uuid
from typing import Any

import mcp_types as types
import suite_asking
import suite_content
import uvicorn
from fastapi import FastAPI
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from pydantic import ConfigDict, Field

from sandbox_runtime.api import errors
from sandbox_runtime.api.middleware import stack
from sandbox_runtime.api.routes import SERVER
from sandbox_runtime.assembly import Platform, open_platform, version
from sandbox_runtime.cli.mcp_routes import find_owner
from sandbox_runtime.mcp.config import McpConfig, load_config
from sandbox_runtime.mcp.hosts.local import LocalHost
from sandbox_runtime.mcp.hosts.port import SandboxHost, SandboxSpec
from sandbox_runtime.mcp.resources import Contents, Notify, Resources
from sandbox_runtime.mcp.server import McpServer
from sandbox_runtime.mcp.startup import process_folder, to_settings
from sandbox_runtime.mcp.tools import error_codes
from sandbox_runtime.mcp.tools.registry import enabled_tools
from sandbox_runtime.mcp.tools.tool import AnyTool, Arguments, Image, Result, Tool, ToolContext, ToolResponse
from sandbox_runtime.mcp.transports.routes import open_routes
from sandbox_runtime.settings import Settings

PAUSE_S = 0.4
"""Longer than the server waits before it sends on what was printed."""
Context = ServerRequestContext[Any, Any]


class Nothing(Arguments):
    pass


class Said(Result):
    text: str


class WithHeader(Arguments):
    """Its argument is sent as a header, too."""

    region: str = Field(default="", json_schema_extra={"x-mcp-header": "Region"})


class Newer(Arguments):
    """With the words of JSON Schema that the suite looks for."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_extra={
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$defs": {
                "address": {
                    "$anchor": "addressDef",
                    "type": "object",
                    "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
                }
            },
            "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
            "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
            "then": {"required": ["phone"]},
            "else": {"required": ["email"]},
        },
    )
    name: str = ""
    contactMethod: str = ""
    phone: str = ""
    email: str = ""


def said(text: str, *images: Image) -> ToolResponse:
    return ToolResponse(text, Said(text=text), images=images)


async def text(_ctx: ToolContext, _arguments: Arguments) -> ToolResponse:
    return said("This is a simple text response for testing.")


async def image(_ctx: ToolContext, _arguments: Arguments) -> ToolResponse:
    return said("A red dot.", Image("image/png", suite_content.RED_DOT))


async def error(_ctx: ToolContext, _arguments: Arguments) -> ToolResponse:
    raise error_codes.ToolFailure("INTENDED", "This tool intentionally returns an error for testing")


async def printing(ctx: ToolContext, *lines: str) -> ToolResponse:
    assert ctx.sink is not None
    for line in lines:
        ctx.sink("stdout", f"{line}\n")
        await asyncio.sleep(PAUSE_S)
    return said("done")


async def logging(ctx: ToolContext, _arguments: Arguments) -> ToolResponse:
    return await printing(ctx, "Tool execution started", "Tool processing data", "Tool execution completed")


async def logging_quickly(ctx: ToolContext, _arguments: Arguments) -> ToolResponse:
    """Before the suite has waited long enough."""
    assert ctx.sink is not None
    ctx.sink("stdout", "Tool working\n")
    await asyncio.sleep(0.25)
    return said("done")


async def progress(ctx: ToolContext, _arguments: Arguments) -> ToolResponse:
    return await printing(ctx, "1/100", "50/100", "100/100")


def suite_tools() -> dict[str, AnyTool]:
    made = {
        "test_simple_text": (text, Nothing),
        "test_image_content": (image, Nothing),
        "test_error_handling": (error, Nothing),
        "test_tool_with_logging": (logging, Nothing),
        "test_logging_tool": (logging_quickly, Nothing),
        "test_tool_with_progress": (progress, Nothing),
        "json_schema_2020_12_tool": (text, Newer),
        "test_with_header": (text, WithHeader),
    }
    return {name: Tool(name, name, "For the conformance suite.", takes, Said, act) for name, (act, takes) in made.items()}


class Renamed(Resources):
    """The product's resources, also under the addresses that the suite asks for; files are in a sandbox made for it."""

    def __init__(self, config: McpConfig, tools: dict[str, AnyTool], sandbox_id: str) -> None:
        super().__init__(config, tools)
        self._sandbox_id = sandbox_id

    def product_uri(self, uri: str) -> str:
        fixed = {
            "test://static-text": "template://python",
            "test://watched-resource": "config://server",
            "test://static-binary": f"file://{self._sandbox_id}/dot.png",
        }
        files = f"file://{self._sandbox_id}/template/"
        return fixed.get(uri) or uri.replace("test://template/", files)

    async def read(self, host: SandboxHost, uri: str) -> Contents:
        return [one.model_copy(update={"uri": uri}) for one in await super().read(host, self.product_uri(uri))]

    async def subscribe(self, host: SandboxHost, uri: str, connection: str, notify: Notify) -> None:
        await super().subscribe(host, self.product_uri(uri), connection, notify)


async def files_for_the_suite(host: SandboxHost) -> str:
    sandbox_id = (await host.create(SandboxSpec(id=str(uuid.uuid4())))).id
    await host.write(sandbox_id, "dot.png", base64.b64decode(suite_content.RED_DOT))
    await host.write(sandbox_id, "template/123/data", b'{"id":"123","templateTest":true,"data":"Data for ID: 123"}')
    return sandbox_id


def add_to(server: Server[Any]) -> None:
    """In front of what the product answers: the names of the suite alone, everything else goes through."""
    list_tools, call_tool, list_prompts, get_prompt, complete = (
        handler_of(server, method)
        for method in ("tools/list", "tools/call", "prompts/list", "prompts/get", "completion/complete")
    )

    async def listed_tools(context: Context, params: Any) -> types.ListToolsResult:
        told = await list_tools(context, params)
        schemas = {name: schema for name, (_act, schema) in suite_asking.TOOLS.items()}
        more = {**{name: suite_asking.form() for name in suite_content.TOOLS}, **schemas}
        return types.ListToolsResult(
            tools=told.tools
            + [types.Tool(name=name, description="For the suite.", input_schema=schema) for name, schema in more.items()]
        )

    async def call_any(context: Context, params: types.CallToolRequestParams) -> Any:
        if params.name in suite_content.TOOLS:
            return types.CallToolResult(content=suite_content.TOOLS[params.name])
        if params.name in suite_asking.TOOLS:
            return await suite_asking.TOOLS[params.name][0](context, params)
        return await call_tool(context, params)

    async def prompts(context: Context, params: Any) -> types.ListPromptsResult:
        more = {**suite_content.PROMPTS, "test_input_required_result_prompt": ()}
        shown = [
            types.Prompt(
                name=name,
                description="For the suite.",
                arguments=[types.PromptArgument(name=one, required=True) for one in takes],
            )
            for name, takes in more.items()
        ]
        return types.ListPromptsResult(prompts=(await list_prompts(context, params)).prompts + shown)

    async def prompt(context: Context, params: types.GetPromptRequestParams) -> Any:
        if params.name == "test_input_required_result_prompt":
            return await suite_asking.prompt(params)
        if params.name in suite_content.PROMPTS:
            return suite_content.prompt(params.name, params.arguments or {})
        return await get_prompt(context, params)

    async def completed(context: Context, params: types.CompleteRequestParams) -> Any:
        """For a prompt of the suite: what the product completes for one of its own."""
        if getattr(params.ref, "name", "") in suite_content.PROMPTS:
            ours = types.PromptReference(type="ref/prompt", name="solve_and_test")
            argument = types.CompletionArgument(name="language", value=params.argument.value)
            params = params.model_copy(update={"ref": ours, "argument": argument})
        return await complete(context, params)

    server.add_request_handler("tools/list", types.PaginatedRequestParams, listed_tools)
    server.add_request_handler("tools/call", types.CallToolRequestParams, call_any)
    server.add_request_handler("prompts/list", types.PaginatedRequestParams, prompts)
    server.add_request_handler("prompts/get", types.GetPromptRequestParams, prompt)
    server.add_request_handler("completion/complete", types.CompleteRequestParams, completed)
    # A state that a client hands back is only believed where it was sealed here.
    server.middleware.append(RequestStateBoundary(RequestStateSecurity.ephemeral(), default_audience=server.name))


def handler_of(server: Server[Any], method: str) -> Any:
    entry = server.get_request_handler(method)
    assert entry is not None, f"the product does not answer {method}"
    return entry.handler


async def serve(port: int, config: McpConfig) -> None:
    with process_folder(config) as folder:
        settings = to_settings(config, folder)
        async with open_platform(settings, sessions=True) as platform:
            await serve_on(platform, settings, port, config)


async def serve_on(platform: Platform, settings: Settings, port: int, config: McpConfig) -> None:
    app, host = FastAPI(), LocalHost(platform)
    app.state.platform = platform
    stack.install(app, settings, (SERVER,))
    errors.install(app)
    tools = {**enabled_tools(config), **suite_tools()}
    server = McpServer(config, lambda _request: host, version(), tools, Renamed(config, tools, await files_for_the_suite(host)))
    add_to(server.sdk_server)
    async with open_routes(server, find_owner, standalone=True) as routes:
        app.router.routes[0:0] = routes
        web = uvicorn.Config(app, host="127.0.0.1", port=port, lifespan="off", log_level="warning")
        await uvicorn.Server(web).serve()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]), load_config({})))
