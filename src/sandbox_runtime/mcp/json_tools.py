"""Tools, resources and prompts as plain JSON, for interfaces other than MCP."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from sandbox_runtime.errors import NotFound
from sandbox_runtime.mcp.config import McpConfig
from sandbox_runtime.mcp.hosts.port import SandboxHost, Sink
from sandbox_runtime.mcp.notifications import find_progress
from sandbox_runtime.mcp.prompts import prompts
from sandbox_runtime.mcp.resources import Resources
from sandbox_runtime.mcp.tools import error_codes
from sandbox_runtime.mcp.tools.dispatch import call_tool
from sandbox_runtime.mcp.tools.registry import enabled_tools
from sandbox_runtime.mcp.tools.tool import AnyTool, ToolContext, ToolResponse

Json = dict[str, Any]
Emit = Callable[[Mapping[str, Any]], None]
_TRANSIENT = (error_codes.INSUFFICIENT_RESOURCES, error_codes.PLATFORM_FAULT)


class McpToolProvider:
    """`host_for`: returns the host of an owner with a sandbox quota. The owner "" sees every sandbox."""

    def __init__(self, host_for: Callable[[str, int | None], SandboxHost], config: McpConfig) -> None:
        self._host_for = host_for
        self._config = config
        self._tools = enabled_tools(config)
        self._resources = Resources(config, self._tools)

    def tools(self) -> Sequence[Json]:
        return [_schema(tool) for tool in self._tools.values()]

    async def call(
        self, name: str, arguments: Mapping[str, Any], owner: str, max_sandboxes: int | None, emit: Emit | None = None
    ) -> Json:
        """Return result, is_error, metadata and transient. Raises NotFound for an unknown tool, Denied for a denied call."""
        tool = self._tools.get(name)
        if tool is None:
            raise NotFound(f"unknown tool {name[:100]!r}; available tools: {', '.join(self._tools)}")
        sink = None if emit is None else _item_sink(emit)
        return _to_json(await call_tool(tool, ToolContext(self._host_for(owner, max_sandboxes), self._config, sink), arguments))

    async def resources(self, owner: str) -> Sequence[Json]:
        return [_dump(resource) for resource in await self._resources.list(self._host_for(owner, None))]

    async def read(self, uri: str, owner: str) -> Json:
        contents = await self._resources.read(self._host_for(owner, None), uri)
        return {"uri": uri, "contents": [_dump(content) for content in contents]}

    def prompts(self) -> Sequence[Json]:
        return [_dump(prompt) for prompt in prompts.list_prompts()]

    def prompt(self, name: str, arguments: Mapping[str, str]) -> Json:
        return {"name": name, **_dump(prompts.render(name, arguments))}


def _item_sink(emit: Emit) -> Sink:
    """Return a sink that emits output items, and a progress item when the text contains one."""

    def add(stream: str, text: str) -> None:
        if not text:
            return
        emit({"type": "data" if stream == "stdout" else "error", "stream": stream, "data": text})
        progress = find_progress(text)
        if progress is not None:
            message = (text.strip().splitlines() or [""])[-1][:200]
            emit({"type": "progress", "progress": {"current": progress[0], "total": progress[1], "message": message}})

    return add


def _schema(tool: AnyTool) -> Json:
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": tool.arguments_model.model_json_schema(),
        "outputSchema": tool.result_model.model_json_schema(),
    }


def _to_json(response: ToolResponse) -> Json:
    metadata: Json = {} if response.result is None else {"structured": response.result.model_dump(mode="json")}
    if response.images:
        metadata["images"] = [{"media_type": image.media_type, "data": image.base64} for image in response.images]
    if response.error:
        metadata["error_code"] = response.error
    return {
        "result": response.metadata["error_message"] if response.error and response.result is None else response.text,
        "is_error": bool(response.error),
        "metadata": {**response.metadata, **metadata},
        "transient": response.error in _TRANSIENT,
    }


def _dump(model: BaseModel) -> Json:
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)
