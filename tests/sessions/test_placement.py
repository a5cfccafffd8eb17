"""Placement of sessions on nodes."""

from __future__ import annotations

import dataclasses

import pytest

from sandbox_runtime.errors import TooMany, Unavailable
from sandbox_runtime.model import Node, NodeState, Resources, Session, SessionMode, SessionState
from sandbox_runtime.sessions.lifecycle.placement import (
    Placement,
    PlacementKind,
    PlacementRequest,
    affinity_score,
    choose,
    fits,
    load_score,
)

EPHEMERAL, PERSISTENT = SessionMode.ephemeral, SessionMode.persistent


def new_node(key: str, **more: object) -> Node:
    facts = {"hostname": key, "created_ms": 1, "cpu_cores": 8.0, "memory_mb": 16384, **more}
    return Node(id=key, **facts)  # type: ignore[arg-type]


def place(mode: SessionMode, *nodes: Node, **more: object) -> Placement:
    return choose(PlacementRequest(mode=mode, template="t", resources=Resources(), nodes=nodes, **more))  # type: ignore[arg-type]


def running_session(key: str, **more: object) -> Session:
    facts = {"state": SessionState.running, "template": "t", "node": "a", "created_ms": 1, **more}
    return Session(id=key, **facts)  # type: ignore[arg-type]


@pytest.mark.requirement("control_plane-6.01")
def test_the_load_score_weighs_processor_memory_and_places() -> None:
    assert load_score(new_node("a")) == pytest.approx(1.0)
    assert load_score(new_node("a", cpu_usage=0.5, memory_usage=0.25, boxes=25)) == pytest.approx(0.2 + 0.3 + 0.1)
    assert load_score(new_node("a", cpu_usage=1.0, memory_usage=1.0, boxes=50)) == 0


@pytest.mark.requirement("control_plane-6.02")
def test_the_affinity_score_adds_what_is_known_of_template_and_agent() -> None:
    node = new_node("a", cached_templates=("t",))
    assert affinity_score(node, "t", ["a"], 1) == pytest.approx(0.6 + 0.2 + 0.15 + 0.025)
    assert affinity_score(node, "other", [], 9) == pytest.approx(0.6 + 0.05)


@pytest.mark.requirement("control_plane-6.03")
def test_an_agents_running_session_is_reused_the_most_recent_first() -> None:
    running = [running_session("old", last_activity_ms=5), running_session("new", last_activity_ms=9, node="b")]
    assert place(PERSISTENT, new_node("a"), running=running) == Placement(PlacementKind.reused, "b", "new")


@pytest.mark.parametrize("other", [{"template": "other"}, {"state": SessionState.creating}])
def test_a_session_of_another_template_or_one_that_does_not_run_is_not_reused(other: dict[str, object]) -> None:
    assert place(PERSISTENT, new_node("a"), running=[running_session("s", **other)]).kind is PlacementKind.cold


@pytest.mark.requirement("control_plane-6.04")
def test_an_ephemeral_session_is_never_reused() -> None:
    assert place(EPHEMERAL, new_node("a"), running=[running_session("s")]).kind is PlacementKind.cold


@pytest.mark.requirement("control_plane-6.03")
def test_then_comes_the_agents_most_recent_node_if_it_fits() -> None:
    nodes = [new_node("a"), new_node("b", cpu_usage=0.9)]
    assert place(PERSISTENT, *nodes, history=["b", "a"], ready=["a"]) == Placement(PlacementKind.recent, "b")
    full = new_node("b", boxes=50)
    assert place(PERSISTENT, new_node("a"), full, history=["b"], ready=["a"]) == Placement(PlacementKind.warm, "a")


@pytest.mark.requirement("control_plane-6.03")
def test_then_what_stands_ready_on_the_best_node() -> None:
    nodes = [new_node("a"), new_node("b", cpu_usage=0.5), new_node("c", cpu_usage=0.9)]
    for mode in (EPHEMERAL, PERSISTENT):
        assert place(mode, *nodes, ready=["b", "c"]) == Placement(PlacementKind.warm, "b")


@pytest.mark.requirement("control_plane-6.03")
def test_then_the_best_score_cold() -> None:
    busy, idle = new_node("a", cpu_usage=0.2, cached_templates=("t",)), new_node("b", cpu_usage=0.1)
    assert place(EPHEMERAL, busy, idle) == Placement(PlacementKind.cold, "b")
    assert place(PERSISTENT, busy, idle) == Placement(PlacementKind.cold, "a")
    assert place(PERSISTENT, new_node("a"), new_node("b"), same={"a": 2}) == Placement(PlacementKind.cold, "a")


@pytest.mark.parametrize(
    "facts",
    [
        {"boxes": 50},
        {"state": NodeState.draining},
        {"state": NodeState.offline},
        {"allocated_cpu_cores": 7.5},
        {"allocated_memory_mb": 16000},
    ],
)
def test_a_node_without_room_is_not_chosen(facts: dict[str, object]) -> None:
    assert not fits(new_node("a", **facts), Resources())
    assert place(EPHEMERAL, new_node("a", **facts), new_node("b", cpu_usage=0.9)).node == "b"


def test_a_node_that_promises_more_than_it_has_counts_places_alone() -> None:
    node = new_node("a", allocated_cpu_cores=800.0, labels={"overcommit": "yes"})
    assert fits(node, Resources())
    assert not fits(dataclasses.replace(node, boxes=50), Resources())


def test_full_nodes_and_no_nodes_are_told_apart() -> None:
    with pytest.raises(TooMany) as refused:
        place(EPHEMERAL, new_node("a", boxes=50))
    assert refused.value.retry_after_s > 0
    with pytest.raises(Unavailable, match="online"):
        place(EPHEMERAL, new_node("a", state=NodeState.offline))
