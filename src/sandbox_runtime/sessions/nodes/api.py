"""The verbs about nodes: the machines that hold boxes."""

from __future__ import annotations

import dataclasses

from sandbox_runtime.model import Node
from sandbox_runtime.sessions.lifecycle.lifecycle import Lifecycle
from sandbox_runtime.store import NodeFilter, Page, Store


class Nodes:
    """Those that this server holds are told as they are now."""

    def __init__(self, store: Store, lifecycle: Lifecycle) -> None:
        self._store = store
        self._lifecycle = lifecycle

    async def list(self, where: NodeFilter | None = None, limit: int = 50, offset: int = 0) -> Page[Node]:
        page = await self._store.nodes.list(where, limit, offset)
        current = {row.id: row for row in self._lifecycle.node_rows()}
        return dataclasses.replace(page, items=tuple(current.get(row.id, row) for row in page.items))

    async def get(self, node_id: str) -> Node:
        """Raises NotFound for what is not there."""
        row = await self._store.nodes.get(node_id)
        return next((node for node in self._lifecycle.node_rows() if node.id == node_id), row)
