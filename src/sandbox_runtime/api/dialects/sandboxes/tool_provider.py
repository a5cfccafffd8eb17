"""The provider of tools, resources and prompts, as this dialect sees it. The server sets `app.state.tool_provider` at start."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from fastapi import Request

from sandbox_runtime.errors import Unavailable

Json = Mapping[str, Any]
Emit = Callable[[Json], None]
"""Called with items {type: data, error or progress} while a tool runs."""


class ToolProvider(Protocol):
    """`owner`: whose sandboxes are used; "" means all."""

    def tools(self) -> Sequence[Json]:
        """Return the tools, each with name, description and inputSchema."""
        ...

    async def call(self, name: str, arguments: Json, owner: str, max_sandboxes: int | None, emit: Emit | None = None) -> Json:
        """Call a tool. Cancelling stops it. Raises NotFound for an unknown tool.

        Returns result, is_error, metadata and transient: whether another attempt may succeed.

        - max_sandboxes: how many sandboxes the owner may have; None: the limit of the settings.
        """
        ...

    async def resources(self, owner: str) -> Sequence[Json]: ...

    async def read(self, uri: str, owner: str) -> Json: ...

    def prompts(self) -> Sequence[Json]: ...

    def prompt(self, name: str, arguments: Mapping[str, str]) -> Json: ...


def tool_provider_of(request: Request) -> ToolProvider:
    """Return the provider of the application. Raises Unavailable if it has none."""
    provider: ToolProvider | None = getattr(request.app.state, "tool_provider", None)
    if provider is None:
        raise Unavailable("this server was started without tools")
    return provider
