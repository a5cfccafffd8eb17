"""All tools there are, and those that a configuration switches on."""

from __future__ import annotations

from collections.abc import Mapping

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.mcp.config import ALL_TOOLS, DEFAULT_TOOLS, McpConfig
from sandbox_runtime.mcp.tools import code, commands, extras, files, languages, sandboxes
from sandbox_runtime.mcp.tools.tool import AnyTool


def all_tools() -> dict[str, AnyTool]:
    groups = (sandboxes.TOOLS, commands.TOOLS, code.TOOLS, files.TOOLS, languages.TOOLS, extras.TOOLS)
    return {tool.name: tool for group in groups for tool in group}


def enabled_tools(config: McpConfig) -> Mapping[str, AnyTool]:
    """An empty list is the default one; "all" is every tool; disabled_tools are taken off in the end."""
    known = all_tools()
    selected = config.tools.enabled_tools or DEFAULT_TOOLS
    unknown = sorted({*selected, *config.tools.disabled_tools} - known.keys() - {ALL_TOOLS})
    if unknown:
        raise InvalidRequest(f"tools.enabled_tools: there is no tool {unknown[0][:60]!r}; there are {', '.join(sorted(known))}")
    wanted = known.keys() if ALL_TOOLS in selected else set(selected)
    return {name: tool for name, tool in known.items() if name in wanted and name not in config.tools.disabled_tools}
