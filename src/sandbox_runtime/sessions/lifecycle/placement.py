"""Chooses the node of a new session. Pure: nodes, history and ready environments are given.

A persistent session of an agent takes, in this order: a running session of the agent, the agent's latest node, a node with a
ready environment, the node with the best affinity. An ephemeral session takes a node with a ready environment, then the least
loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from sandbox_runtime.errors import TooMany, Unavailable
from sandbox_runtime.model import Node, NodeState, Resources, Session, SessionMode, SessionState
from sandbox_runtime.model.limits import MIB

RETRY_AFTER_S = 5.0
OVERCOMMIT = "overcommit"
"""Label of nodes that allocate more cores and memory than they have, because idle sessions use none."""
_TEMPLATE_CACHED, _IN_HISTORY = 0.2, 0.15
_PER_SAME_TEMPLATE, _MAX_SAME_TEMPLATE = 0.025, 0.05


class PlacementKind(StrEnum):
    reused = "reused"
    recent = "recent"
    warm = "warm"
    cold = "cold"


@dataclass(frozen=True, slots=True)
class PlacementRequest:
    mode: SessionMode
    template: str
    resources: Resources
    nodes: Sequence[Node]
    ready: Collection[str] = ()
    """Nodes with a ready environment of this template and mode."""
    same: Mapping[str, int] = field(default_factory=dict)
    """Sessions of this template on each node."""
    history: Sequence[str] = ()
    """The agent's nodes, the latest first."""
    running: Sequence[Session] = ()
    """The agent's running sessions."""


@dataclass(frozen=True, slots=True)
class Placement:
    kind: PlacementKind
    node: str
    session: str = ""
    """The session to reuse."""


def load_score(node: Node) -> float:
    return 0.4 * (1 - node.cpu_usage) + 0.4 * (1 - node.memory_usage) + 0.2 * (1 - _fill_share(node))


def affinity_score(node: Node, template: str, history: Collection[str], same: int) -> float:
    free = 0.24 * (1 - node.cpu_usage) + 0.24 * (1 - node.memory_usage) + 0.12 * (1 - _fill_share(node))
    known = _TEMPLATE_CACHED * (template in node.cached_templates) + _IN_HISTORY * (node.id in history)
    return free + known + min(_PER_SAME_TEMPLATE * same, _MAX_SAME_TEMPLATE)


def fits(node: Node, resources: Resources) -> bool:
    """Whether a node has room for a session. One with the label overcommit counts only boxes, others also cores and memory."""
    if node.state is not NodeState.online or node.boxes >= node.max_boxes:
        return False
    memory_mb = node.allocated_memory_mb + -(-resources.memory_bytes // MIB)
    within = node.allocated_cpu_cores + resources.cpu_cores <= node.cpu_cores and memory_mb <= node.memory_mb
    return within or node.labels.get(OVERCOMMIT) == "yes"


def choose(request: PlacementRequest) -> Placement:
    """Return the placement. Raises TooMany if all nodes are full and Unavailable if none is online."""
    if request.mode is SessionMode.persistent and (reused := _reuse(request)) is not None:
        return reused
    nodes = {node.id: node for node in request.nodes if fits(node, request.resources)}
    if not nodes:
        raise _no_node_error(request)
    return _place_persistent(request, nodes) if request.mode is SessionMode.persistent else _place_ephemeral(request, nodes)


def _reuse(request: PlacementRequest) -> Placement | None:
    fitting = [
        session for session in request.running if session.state is SessionState.running and session.template == request.template
    ]
    newest = max(fitting, key=lambda session: session.last_activity_ms or session.created_ms, default=None)
    return None if newest is None else Placement(PlacementKind.reused, newest.node, newest.id)


def _place_persistent(request: PlacementRequest, nodes: Mapping[str, Node]) -> Placement:
    if request.history and request.history[0] in nodes:
        return Placement(PlacementKind.recent, request.history[0])

    def score(node: Node) -> float:
        return affinity_score(node, request.template, request.history, request.same.get(node.id, 0))

    return _ready_or_best(request, nodes, score)


def _place_ephemeral(request: PlacementRequest, nodes: Mapping[str, Node]) -> Placement:
    return _ready_or_best(request, nodes, load_score)


def _ready_or_best(request: PlacementRequest, nodes: Mapping[str, Node], score: Callable[[Node], float]) -> Placement:
    ready = [node for node in nodes.values() if node.id in request.ready]
    best = max(ready or nodes.values(), key=lambda node: (score(node), node.id))
    return Placement(PlacementKind.warm if ready else PlacementKind.cold, best.id)


def _no_node_error(request: PlacementRequest) -> TooMany | Unavailable:
    if any(node.state is NodeState.online for node in request.nodes):
        return TooMany("no node has room for a session with these resources; try again later", RETRY_AFTER_S)
    return Unavailable("no node is online")


def _fill_share(node: Node) -> float:
    return min(node.boxes / node.max_boxes, 1.0) if node.max_boxes else 1.0
