"""A machine (or this one) on which sessions run: what it has, what of that is taken, when it was last heard of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from sandbox_runtime.model import bounds

MAX_AGENT_NODES = 5
"""How many nodes an agent's history holds."""


class NodeState(StrEnum):
    online = "online"
    offline = "offline"
    draining = "draining"
    maintenance = "maintenance"


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """cpu_usage and memory_usage are shares of 0 to 1. allocated_* and boxes count what was promised, whether used or not."""

    id: str
    hostname: str
    backend: str = ""
    address: str = ""
    endpoint: str = ""
    state: NodeState = NodeState.online
    cpu_cores: float = 1.0
    memory_mb: int = 0
    allocated_cpu_cores: float = 0.0
    allocated_memory_mb: int = 0
    boxes: int = 0
    max_boxes: int = 50
    cpu_usage: float = 0.0
    memory_usage: float = 0.0
    cached_templates: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    failures: int = 0
    heartbeat_ms: int | None = None
    created_ms: int
    updated_ms: int = 0
    version: int = 0

    def __post_init__(self) -> None:
        bounds.check_id(self.id, "a node's id", 128)
        bounds.check_name(self.hostname, "the hostname of a node")
        bounds.check_name(self.backend, "the backend of a node", 20, optional=True)
        bounds.check_name(self.address, "the address of a node", 45, optional=True)
        bounds.check_text(self.endpoint, "endpoint", 512)
        for what in ("cpu_usage", "memory_usage"):
            bounds.check_number(getattr(self, what), what, 0, 1)
        for what in ("cpu_cores", "memory_mb", "allocated_cpu_cores", "allocated_memory_mb", "boxes", "max_boxes", "failures"):
            bounds.check_number(getattr(self, what), f"{what} of a node", 0, 2**40)
        bounds.check_count(self.cached_templates, "cached_templates", 1000)
        bounds.check_env(self.labels, "labels")


@dataclass(frozen=True, slots=True)
class NodeVisit:
    """An agent's session was on this node, most recently at used_ms."""

    agent: str
    node: str
    used_ms: int

    def __post_init__(self) -> None:
        bounds.check_id(self.agent, "an agent's id", 128)
        bounds.check_id(self.node, "a node's id", 128)
