"""The same tools, resources and prompts without the protocol: as plain JSON, for a door that is not MCP's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from sandbox_runtime.errors import NotFound
from sandbox_runtime.mcp.config import McpConfig
from sandbox_runtime.mcp.hosts.port import Place
from sandbox_runtime.mcp.items import Tell, sink_of
from sandbox_runtime.mcp.prompts import prompts
from sandbox_runtime.mcp.resources import Resources
from sandbox_runtime.mcp.tools import error_codes
from sandbox_runtime.mcp.tools.dispatch import called
from sandbox_runtime.mcp.tools.registry import enabled_tools
from sandbox_runtime.mcp.tools.tool import Answer, AnyTool, Call

Json = dict[str, Any]
_TRANSIENT = (error_codes.INSUFFICIENT_RESOURCES, error_codes.PLATFORM_FAULT)


class Offering:
    """places: from an owner, and how many sandboxes that one may have at once, to what it sees; the owner "" sees everything."""

    def __init__(self, places: Callable[[str, int | None], Place], config: McpConfig) -> None:
        self._places = places
        self._config = config
        self._tools = enabled_tools(config)
        self._resources = Resources(config, self._tools)

    def tools(self) -> Sequence[Json]:
        return [_shown(tool) for tool in self._tools.values()]

    async def call(self, name: str, arguments: Mapping[str, Any], owner: str, most: int | None, tell: Tell | None = None) -> Json:
        """result, is_error, metadata and transient. Raises NotFound for a tool that there is not, Denied for what it may not."""
        tool = self._tools.get(name)
        if tool is None:
            raise NotFound(f"there is no tool {name[:100]!r}; there are {', '.join(self._tools)}")
        return _told(await called(tool, Call(self._places(owner, most), self._config, sink_of(tell)), arguments))

    async def resources(self, owner: str) -> Sequence[Json]:
        return [_plain(one) for one in await self._resources.list(self._places(owner, None))]

    async def read(self, uri: str, owner: str) -> Json:
        contents = await self._resources.read(self._places(owner, None), uri)
        return {"uri": uri, "contents": [_plain(one) for one in contents]}

    def prompts(self) -> Sequence[Json]:
        return [_plain(one) for one in prompts.listed()]

    def prompt(self, name: str, arguments: Mapping[str, str]) -> Json:
        return {"name": name, **_plain(prompts.rendered(name, arguments))}


def _shown(tool: AnyTool) -> Json:
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": tool.takes.model_json_schema(),
        "outputSchema": tool.gives.model_json_schema(),
    }


def _told(answer: Answer) -> Json:
    more: Json = {} if answer.result is None else {"structured": answer.result.model_dump(mode="json")}
    if answer.images:
        more["images"] = [{"media_type": image.media_type, "data": image.base64} for image in answer.images]
    if answer.error:
        more["error_code"] = answer.error
    return {
        "result": answer.metadata["error_message"] if answer.error and answer.result is None else answer.text,
        "is_error": bool(answer.error),
        "metadata": {**answer.metadata, **more},
        "transient": answer.error in _TRANSIENT,
    }


def _plain(model: BaseModel) -> Json:
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)
