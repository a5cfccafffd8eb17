"""The same tools, resources and prompts without the protocol: as plain JSON, for a door that is not MCP's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from sandbox_runtime.errors import NotFound
from sandbox_runtime.mcp.config import McpConfig
from sandbox_runtime.mcp.hosts.port import SandboxHost
from sandbox_runtime.mcp.items import Tell, item_sink
from sandbox_runtime.mcp.prompts import prompts
from sandbox_runtime.mcp.resources import Resources
from sandbox_runtime.mcp.tools import error_codes
from sandbox_runtime.mcp.tools.dispatch import call_tool
from sandbox_runtime.mcp.tools.registry import enabled_tools
from sandbox_runtime.mcp.tools.tool import AnyTool, ToolContext, ToolResponse

Json = dict[str, Any]
_TRANSIENT = (error_codes.INSUFFICIENT_RESOURCES, error_codes.PLATFORM_FAULT)


class McpToolProvider:
    """places: from an owner, and how many sandboxes that one may have at once, to what it sees; the owner "" sees everything."""

    def __init__(self, host_for: Callable[[str, int | None], SandboxHost], config: McpConfig) -> None:
        self._host_for = host_for
        self._config = config
        self._tools = enabled_tools(config)
        self._resources = Resources(config, self._tools)

    def tools(self) -> Sequence[Json]:
        return [_schema(tool) for tool in self._tools.values()]

    async def call(
        self, name: str, arguments: Mapping[str, Any], owner: str, max_sandboxes: int | None, tell: Tell | None = None
    ) -> Json:
        """result, is_error, metadata and transient. Raises NotFound for a tool that there is not, Denied for what it may not."""
        tool = self._tools.get(name)
        if tool is None:
            raise NotFound(f"there is no tool {name[:100]!r}; there are {', '.join(self._tools)}")
        return _to_json(
            await call_tool(tool, ToolContext(self._host_for(owner, max_sandboxes), self._config, item_sink(tell)), arguments)
        )

    async def resources(self, owner: str) -> Sequence[Json]:
        return [_dump(one) for one in await self._resources.list(self._host_for(owner, None))]

    async def read(self, uri: str, owner: str) -> Json:
        contents = await self._resources.read(self._host_for(owner, None), uri)
        return {"uri": uri, "contents": [_dump(one) for one in contents]}

    def prompts(self) -> Sequence[Json]:
        return [_dump(one) for one in prompts.list_prompts()]

    def prompt(self, name: str, arguments: Mapping[str, str]) -> Json:
        return {"name": name, **_dump(prompts.render(name, arguments))}


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
