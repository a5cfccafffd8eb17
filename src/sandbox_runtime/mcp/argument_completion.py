"""Argument completion: sandbox ids, files, languages, configuration sections, tool names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import mcp_types as types

from sandbox_runtime.errors import InvalidRequest, SandboxError
from sandbox_runtime.mcp.config import McpConfig
from sandbox_runtime.mcp.hosts.port import SandboxHost
from sandbox_runtime.mcp.prompts import prompts
from sandbox_runtime.mcp.resources import TEMPLATES
from sandbox_runtime.mcp.resources.starters import STARTERS
from sandbox_runtime.mcp.tools.arguments import resolve_name
from sandbox_runtime.mcp.tools.sandboxes import is_sandbox

MAX_VALUES = 100
"""Protocol limit of values in one response."""
_LANGUAGES = (*STARTERS, "c", "bash")
_GOALS = ("time", "memory")
Reference = types.PromptReference | types.ResourceTemplateReference


class Completions:
    """`tools`: names of the enabled tools."""

    def __init__(self, tools: Iterable[str]) -> None:
        self._fixed: Mapping[str, tuple[str, ...]] = {
            "config": tuple(McpConfig.model_fields),
            "schema": tuple(tools),
            "template": tuple(STARTERS),
        }

    async def complete(
        self, host: SandboxHost, reference: Reference, name: str, value: str, arguments: Mapping[str, str]
    ) -> types.Completion:
        """Return values that start with `value`. `arguments`: those already filled in. Raises InvalidRequest for an unknown
        prompt, argument or template."""
        values = await self._values(host, reference, name, value, arguments)
        matches = [candidate for candidate in values if candidate.lower().startswith(value.lower())]
        return types.Completion(values=matches[:MAX_VALUES], total=len(matches), has_more=len(matches) > MAX_VALUES)

    async def _values(
        self, host: SandboxHost, reference: Reference, name: str, value: str, arguments: Mapping[str, str]
    ) -> Iterable[str]:
        if isinstance(reference, types.PromptReference):
            return await self._prompt_values(host, prompts.get_prompt(reference.name), name, value, arguments)
        scheme = TEMPLATES.get(reference.uri, ("", ""))[0]
        if not scheme:
            raise InvalidRequest(f"unknown resource template {reference.uri[:200]!r}; available: {', '.join(TEMPLATES)}")
        if scheme != "file":
            return self._fixed[scheme] if name == "path" else ()
        return await self._sandbox_values(host, name, value, arguments)

    async def _prompt_values(
        self, host: SandboxHost, prompt: prompts.Prompt, name: str, value: str, arguments: Mapping[str, str]
    ) -> Iterable[str]:
        if name not in {parameter.name for parameter in prompt.parameters}:
            raise InvalidRequest(f"the prompt {prompt.name} has no argument {name[:60]!r}")
        if name in ("language", "target"):
            return _LANGUAGES
        return _GOALS if name == "goal" else await self._sandbox_values(host, name, value, arguments)

    async def _sandbox_values(self, host: SandboxHost, name: str, value: str, arguments: Mapping[str, str]) -> Iterable[str]:
        """Return sandbox ids or file paths; no paths for a missing sandbox."""
        if name == "sandbox_id":
            return [view.id for view in await host.list() if is_sandbox(view.id)]
        if name != "path" or not is_sandbox(arguments.get("sandbox_id", "").lower()):
            return ()
        try:
            return await _files(host, arguments["sandbox_id"].lower(), value)
        except SandboxError:
            return ()


async def _files(host: SandboxHost, sandbox_id: str, value: str) -> list[str]:
    """List the folder typed so far. Folders end with a slash so that the user can continue typing."""
    typed = value.rpartition("/")[0]
    files, _more = await host.files(sandbox_id, resolve_name(typed) if typed else "")
    prefix = f"{typed}/" if typed else ""
    return [f"{prefix}{file.name.rpartition('/')[2]}{'/' if file.is_folder else ''}" for file in files]
