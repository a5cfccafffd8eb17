"""What tools, resources and prompts this server offers, seen from here. Who offers them sets app.state.offer when the server
starts: this dialect knows no tool.

owner, most: whose key asked, and how many sandboxes that one may have at once; None: as the settings say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from fastapi import Request

from sandbox_runtime.errors import Unavailable

Json = Mapping[str, Any]
Tell = Callable[[Json], None]


class Offer(Protocol):
    def tools(self) -> Sequence[Json]:
        """Each with name, description and inputSchema."""
        ...

    async def call(self, name: str, arguments: Json, owner: str, most: int | None, tell: Tell | None = None) -> Json:
        """result, is_error, metadata, and transient: whether another attempt could go better. Raises NotFound for a tool that
        there is not. Whoever cancels this ends what it began. tell: called meanwhile, with items {type: data, error or
        progress}."""
        ...

    async def resources(self, owner: str) -> Sequence[Json]: ...

    async def read(self, uri: str, owner: str) -> Json: ...

    def prompts(self) -> Sequence[Json]: ...

    def prompt(self, name: str, arguments: Mapping[str, str]) -> Json: ...


def offer_of(request: Request) -> Offer:
    found: Offer | None = getattr(request.app.state, "offer", None)
    if found is None:
        raise Unavailable("this server offers no tools: it was started without them")
    return found
