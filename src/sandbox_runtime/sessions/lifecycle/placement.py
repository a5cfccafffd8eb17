"""Where a session goes. Pure: nodes, history and what stands ready are given.

A persistent session of an agent goes where the agent has one running already, then to the agent's most recent node, then to what
stands ready, then to the node with the best affinity. An ephemeral one takes what stands ready, then the least loaded node.
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
"""Label of nodes that promise more cores and memory than they have, because idle sessions use none."""
_TEMPLATE_CACHED, _IN_HISTORY = 0.2, 0.15
_EACH_SAME, _MOST_SAME = 0.025, 0.05


class Way(StrEnum):
    reused = "reused"
    recent = "recent"
    warm = "warm"
    cold = "cold"


@dataclass(frozen=True, slots=True)
class Question:
    """ready: nodes on which a place of this template and mode stands ready. same: sessions of this template on each node.
    history: the agent's nodes, the latest first. running: the agent's running sessions."""

    mode: SessionMode
    template: str
    resources: Resources
    nodes: Sequence[Node]
    ready: Collection[str] = ()
    same: Mapping[str, int] = field(default_factory=dict)
    history: Sequence[str] = ()
    running: Sequence[Session] = ()


@dataclass(frozen=True, slots=True)
class Place:
    way: Way
    node: str
    session: str = ""
    """The one that is reused."""


def load_score(node: Node) -> float:
    return 0.4 * (1 - node.cpu_usage) + 0.4 * (1 - node.memory_usage) + 0.2 * (1 - _filled(node))


def affinity_score(node: Node, template: str, history: Collection[str], same: int) -> float:
    free = 0.24 * (1 - node.cpu_usage) + 0.24 * (1 - node.memory_usage) + 0.12 * (1 - _filled(node))
    known = _TEMPLATE_CACHED * (template in node.cached_templates) + _IN_HISTORY * (node.id in history)
    return free + known + min(_EACH_SAME * same, _MOST_SAME)


def has_room(node: Node, resources: Resources) -> bool:
    """A node that promises more than it has counts places alone; every other also counts cores and memory."""
    if node.state is not NodeState.online or node.boxes >= node.most_boxes:
        return False
    memory_mb = node.allocated_memory_mb + -(-resources.memory_bytes // MIB)
    fits = node.allocated_cpu_cores + resources.cpu_cores <= node.cpu_cores and memory_mb <= node.memory_mb
    return fits or node.labels.get(OVERCOMMIT) == "yes"


def choose(question: Question) -> Place:
    """Raises TooMany where nodes are full, Unavailable where there is none."""
    if question.mode is SessionMode.persistent and (reused := _reused(question)) is not None:
        return reused
    nodes = {node.id: node for node in question.nodes if has_room(node, question.resources)}
    if not nodes:
        raise _refused(question)
    return _persistent(question, nodes) if question.mode is SessionMode.persistent else _ephemeral(question, nodes)


def _reused(question: Question) -> Place | None:
    fitting = [one for one in question.running if one.state is SessionState.running and one.template == question.template]
    newest = max(fitting, key=lambda one: one.last_activity_ms or one.created_ms, default=None)
    return None if newest is None else Place(Way.reused, newest.node, newest.id)


def _persistent(question: Question, nodes: Mapping[str, Node]) -> Place:
    if question.history and question.history[0] in nodes:
        return Place(Way.recent, question.history[0])

    def score(node: Node) -> float:
        return affinity_score(node, question.template, question.history, question.same.get(node.id, 0))

    return _ready_or_best(question, nodes, score)


def _ephemeral(question: Question, nodes: Mapping[str, Node]) -> Place:
    return _ready_or_best(question, nodes, load_score)


def _ready_or_best(question: Question, nodes: Mapping[str, Node], score: Callable[[Node], float]) -> Place:
    ready = [node for node in nodes.values() if node.id in question.ready]
    best = max(ready or nodes.values(), key=lambda node: (score(node), node.id))
    return Place(Way.warm if ready else Way.cold, best.id)


def _refused(question: Question) -> TooMany | Unavailable:
    if any(node.state is NodeState.online for node in question.nodes):
        return TooMany("no node has room for another session with these resources; try again later", RETRY_AFTER_S)
    return Unavailable("no node is online")


def _filled(node: Node) -> float:
    return min(node.boxes / node.most_boxes, 1.0) if node.most_boxes else 1.0
