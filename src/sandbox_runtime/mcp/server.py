"""The MCP server: exposes tools, resources and prompts through the official SDK.

Theory of operation. One SDK `Server` serves all connections. For each request `host_for` chooses the sandbox host from the
transport's request object (an HTTP request, or None). A failed tool returns a result with isError; an unknown tool and a denied
call are JSON-RPC errors with the codes below. Cancelling a request cancels its coroutine, and the host then stops the program.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import mcp_types as types
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated
from mcp.shared.exceptions import MCPError
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from sandbox_runtime.errors import Denied, InvalidRequest, SandboxError
from sandbox_runtime.mcp import notifications
from sandbox_runtime.mcp.argument_completion import Completions
from sandbox_runtime.mcp.config import McpConfig
from sandbox_runtime.mcp.hosts.port import SandboxHost
from sandbox_runtime.mcp.prompts import prompts
from sandbox_runtime.mcp.resources import Resources
from sandbox_runtime.mcp.tools.dispatch import call_tool
from sandbox_runtime.mcp.tools.registry import enabled_tools
from sandbox_runtime.mcp.tools.tool import AnyTool, ToolContext, ToolResponse
from sandbox_runtime.telemetry import Log

TOOL_NOT_FOUND, PERMISSION, RESOURCE_NOT_FOUND = -32000, -32003, -32004
INSTRUCTIONS = (
    "Runs code in isolated sandboxes. Create one with create_sandbox and keep its sandbox_id; then run code and commands in it, "
    "and read and write its files in /workspace. Terminate it when you are done."
)
HostFor = Callable[[Any], SandboxHost]
"""Returns the host of a request, restricted to what its caller may see. Takes the HTTP request, or None over stdio."""
Context = ServerRequestContext[Any, Any]
_DEFAULTS = McpConfig()
_MAX_LEVELS = 10_000
_MAX_SUBSCRIPTIONS = 100
_LIST_CHANGING_TOOLS = frozenset({"create_sandbox", "terminate_sandbox", "fork_sandbox"})


class _SdkServer(Server[Any]):
    """Announces list changes on every transport. Over HTTP the SDK calls this without options and would announce none."""

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        options = notification_options or NotificationOptions(prompts_changed=True, resources_changed=True, tools_changed=False)
        return super().create_initialization_options(options, experimental_capabilities, extensions)


class McpServer:
    """Builds the SDK server.

    - `version`: product version; used unless the configuration sets `server.version`.
    - `tools`, `resources`: replace those enabled by the configuration.
    - `log`: receives one line per tool call.
    """

    def __init__(
        self,
        config: McpConfig,
        host_for: HostFor,
        version: str,
        tools: Mapping[str, AnyTool] | None = None,
        resources: Resources | None = None,
        log: Log | None = None,
    ) -> None:
        self.config = self._config = config
        self.version = version if config.server.version == _DEFAULTS.server.version else config.server.version
        self._host_for = host_for
        self._tools = enabled_tools(config) if tools is None else tools
        self._sdk_tools = {name: _to_sdk_tool(tool) for name, tool in self._tools.items()}
        self._resources = resources or Resources(config, self._tools)
        self._completions = Completions(self._tools)
        self._levels: dict[str, str] = {}
        self._log = logging.getLogger(__name__)
        self._calls = log if config.sandbox.enable_logging else None
        self.sdk_server = self._build(self.version)

    @property
    def options(self) -> InitializationOptions:
        return self.sdk_server.create_initialization_options()

    def _build(self, version: str) -> _SdkServer:
        server = _SdkServer(
            self._config.server.name,
            version=version,
            instructions=INSTRUCTIONS,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
            on_subscribe_resource=self._subscribe,
            on_unsubscribe_resource=self._unsubscribe,
            on_subscriptions_listen=self._listen,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
            on_completion=self._complete,
            get_tool_input_schema=self._input_schema,
        )
        server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, self._set_level)
        server.add_request_handler("shutdown", types.RequestParams, _shut_down)
        server.middleware.append(_check_handshake)
        return server

    # Tools.

    def _input_schema(self, name: str) -> dict[str, Any] | None:
        return self._sdk_tools[name].input_schema if name in self._sdk_tools else None

    async def _list_tools(self, _context: Context, _params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=list(self._sdk_tools.values()))

    async def _call_tool(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = self._tools.get(params.name)
        if tool is None:
            raise MCPError(TOOL_NOT_FOUND, f"tool not found: {params.name[:100]!r}; available tools: {', '.join(self._tools)}")
        started_s = time.monotonic()
        try:
            response = await self._run_tool(context, tool, params.arguments or {})
            self._log_call(tool.name, params.arguments or {}, response, time.monotonic() - started_s)
        except Denied as error:
            raise MCPError(PERMISSION, str(error)) from error
        except Exception as error:
            self._log.exception("a tool failed in an unforeseen way: %s", tool.name)
            raise MCPError(types.INTERNAL_ERROR, f"{tool.name} failed unexpectedly: {type(error).__name__}") from error
        if tool.name in _LIST_CHANGING_TOOLS and not response.error and context.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS:
            await context.session.send_resource_list_changed()
        return _to_sdk_result(response)

    def _log_call(self, tool: str, arguments: Mapping[str, Any], response: ToolResponse, took_s: float) -> None:
        """Log the call without its arguments, which may contain code and secrets; only the sandbox id is logged."""
        if self._calls is None:
            return
        sandbox = str(arguments.get("sandbox_id") or response.metadata.get("sandbox_id") or "")[:36]
        facts = {"tool": tool, "sandbox": sandbox, "took_ms": round(took_s * 1000, 1)}
        self._calls.info("a tool was called", **facts, **({"error_code": response.error} if response.error else {}))

    async def _run_tool(self, context: Context, tool: AnyTool, arguments: dict[str, Any]) -> ToolResponse:
        host, settings = self._host_for(context.request), self._config.tools
        if not settings.enable_streaming:
            return await call_tool(tool, ToolContext(host, self._config), arguments)
        wants_level = partial(self._wants_level, context)
        async with notifications.output_sender(context, settings.streaming, wants_level) as sink:
            return await call_tool(tool, ToolContext(host, self._config, sink), arguments)

    # Resources and prompts.

    async def _list_resources(self, context: Context, _params: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=await self._resources.list(self._host_for(context.request)))

    async def _list_templates(
        self, _context: Context, _params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=self._resources.templates())

    async def _read_resource(self, context: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        try:
            contents = await self._resources.read(self._host_for(context.request), str(params.uri))
        except SandboxError as error:
            code = types.INVALID_PARAMS if isinstance(error, InvalidRequest) else RESOURCE_NOT_FOUND
            raise MCPError(code, str(error), {"uri": str(params.uri)}) from error
        return types.ReadResourceResult(contents=contents)

    async def _subscribe(self, context: Context, params: types.SubscribeRequestParams) -> types.EmptyResult:
        try:
            notify = partial(context.session.send_resource_updated, str(params.uri))
            await self._resources.subscribe(self._host_for(context.request), str(params.uri), connection_id(context), notify)
        except SandboxError as error:
            raise MCPError(RESOURCE_NOT_FOUND, str(error), {"uri": str(params.uri)}) from error
        return types.EmptyResult()

    async def _unsubscribe(self, context: Context, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        self._resources.unsubscribe(str(params.uri), connection_id(context))
        return types.EmptyResult()

    async def _listen(self, context: Context, params: types.SubscriptionsListenRequestParams) -> types.SubscriptionsListenResult:
        """Subscribe as in the newest protocol revision: the response to this request is the stream of changes."""
        bus = InMemorySubscriptionBus()
        uris = list(params.notifications.resource_subscriptions or ())[:_MAX_SUBSCRIPTIONS]

        async def notify(uri: str) -> None:
            await bus.publish(ResourceUpdated(uri=uri))

        try:
            async with self._resources.watch(self._host_for(context.request), uris, notify):
                return await ListenHandler(bus)(context, params)
        except InvalidRequest as error:
            raise MCPError(types.INVALID_PARAMS, str(error)) from error

    async def _list_prompts(self, _context: Context, _params: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=prompts.list_prompts())

    async def _get_prompt(self, _context: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        try:
            return prompts.render(params.name, params.arguments or {})
        except InvalidRequest as error:
            raise MCPError(types.INVALID_PARAMS, str(error)) from error

    async def _complete(self, context: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
        arguments = (params.context.arguments if params.context else None) or {}
        wanted = params.argument
        try:
            completion = await self._completions.complete(
                self._host_for(context.request), params.ref, wanted.name, wanted.value, arguments
            )
        except InvalidRequest as error:
            raise MCPError(types.INVALID_PARAMS, str(error)) from error
        return types.CompleteResult(completion=completion)

    # Log levels, per connection.

    async def _set_level(self, context: Context, params: types.SetLevelRequestParams) -> types.EmptyResult:
        if len(self._levels) >= _MAX_LEVELS:
            self._levels.pop(next(iter(self._levels)))
        self._levels[connection_id(context)] = params.level
        return types.EmptyResult()

    def _wants_level(self, context: Context, level: str) -> bool:
        wanted = self._levels.get(connection_id(context), "info")
        return notifications.LEVELS.index(level) >= notifications.LEVELS.index(wanted)

    def info(self) -> dict[str, Any]:
        """Return the body of /info. It contains nothing that only the operator should see."""
        capabilities = self.options.capabilities.model_dump(mode="json", by_alias=True, exclude_none=True)
        shown = {"tools": list(self._tools), "max_sandboxes": self._config.sandbox.max_sandboxes}
        return {"name": self._config.server.name, "version": self.version, "capabilities": capabilities, "config": shown}

    async def close(self) -> None:
        await self._resources.close()


def connection_id(context: Context) -> str:
    """Return the MCP session id, or, on transports without one, the identity of the connection's object."""
    headers = getattr(context.request, "headers", None) or {}
    return headers.get("mcp-session-id") or f"{id(context.lifespan_context)}"


async def _shut_down(_context: Context, _params: types.RequestParams | None) -> types.EmptyResult:
    """Acknowledge only: everything a connection started ends when it closes."""
    await asyncio.sleep(0)
    return types.EmptyResult()


async def _check_handshake(ctx: Context, call_next: CallNext) -> HandlerResult:
    """Reject requests before `initialize` and a second `initialize`. Revisions without a handshake have no such order."""
    handshake = ctx.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS
    if handshake and ctx.method == "initialize" and ctx.session.client_params is not None:
        raise MCPError(types.INVALID_REQUEST, "already initialized")
    try:
        return await call_next(ctx)
    except MCPError as error:
        if error.code == types.INVALID_PARAMS and error.data == "" and ctx.session.client_params is None:
            raise MCPError(types.INVALID_REQUEST, f"not initialized: send initialize before {ctx.method}") from error
        raise


def _to_sdk_tool(tool: AnyTool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.arguments_model.model_json_schema(),
        output_schema=tool.result_model.model_json_schema(),
        annotations=types.ToolAnnotations.model_validate({"title": tool.title, **tool.hints}),
    )


def _to_sdk_result(response: ToolResponse) -> types.CallToolResult:
    content: list[Any] = [types.TextContent(type="text", text=response.text)]
    content += [types.ImageContent(type="image", data=image.base64, mime_type=image.media_type) for image in response.images]
    return types.CallToolResult.model_validate(
        {
            "content": content,
            "structuredContent": None if response.result is None else response.result.model_dump(mode="json"),
            "isError": bool(response.error),
            "_meta": {"metadata": dict(response.metadata)},
        }
    )
