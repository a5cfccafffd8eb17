"""The nodes of this server, with their load as of now."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from sandbox_runtime.model import Node
from sandbox_runtime.model.limits import MIB

if TYPE_CHECKING:
    from sandbox_runtime.sessions.deps import SessionDeps


class LocalNodes:
    def __init__(self, deps: SessionDeps) -> None:
        self._deps = deps
        self.rows: dict[str, Node] = {}
        """Rows of the store as the janitor last read or wrote them, by id."""

    def current(self) -> list[Node]:
        """Return the nodes with counts and usage of this moment; the rows of the store lag behind."""
        nodes = []
        for node_id, host in self._deps.hosts.items():
            if node_id in self.rows:
                cpu, memory = host.usage()
                row = self.rows[node_id]
                nodes.append(dataclasses.replace(row, cpu_usage=cpu, memory_usage=memory, **self.allocated(node_id)))
        return nodes

    def allocated(self, node_id: str) -> dict[str, Any]:
        """Return the node fields that count sessions, and the cores and memory that open sessions may use."""
        open_sessions = self._deps.registry.open.values()
        resources = [live.session.resources for live in open_sessions if live.session.node == node_id]
        return {
            "boxes": self._deps.registry.count,
            "allocated_cpu_cores": round(sum(each.cpu_cores for each in resources), 1),
            "allocated_memory_mb": sum(each.memory_bytes for each in resources) // MIB,
        }
