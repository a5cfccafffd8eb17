"""All tools, and those that a configuration enables."""

from __future__ import annotations

from collections.abc import Mapping

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.mcp.config import ALL_TOOLS, DEFAULT_TOOLS, McpConfig
from sandbox_runtime.mcp.tools import code, commands, files, fork, judge, languages, packages, sandboxes
from sandbox_runtime.mcp.tools.tool import AnyTool


def all_tools() -> dict[str, AnyTool]:
    modules = (sandboxes, commands, code, files, languages, fork, packages, judge)
    return {tool.name: tool for module in modules for tool in module.TOOLS}


def enabled_tools(config: McpConfig) -> Mapping[str, AnyTool]:
    """Return the enabled tools: an empty list stands for the defaults, "all" for every tool; disabled_tools are removed."""
    known = all_tools()
    selected = config.tools.enabled_tools or DEFAULT_TOOLS
    unknown = sorted({*selected, *config.tools.disabled_tools} - known.keys() - {ALL_TOOLS})
    if unknown:
        raise InvalidRequest(f"tools.enabled_tools: unknown tool {unknown[0][:60]!r}; available: {', '.join(sorted(known))}")
    wanted = known.keys() if ALL_TOOLS in selected else set(selected)
    return {name: tool for name, tool in known.items() if name in wanted and name not in config.tools.disabled_tools}
