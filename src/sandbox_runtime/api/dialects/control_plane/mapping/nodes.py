"""Boxes and nodes, backwards: as containers and runtimes."""

from __future__ import annotations

from collections.abc import Mapping

from sandbox_runtime.api.dialects.control_plane.mapping.sessions import resource_limit
from sandbox_runtime.api.dialects.control_plane.quantities import moment_of, time_of
from sandbox_runtime.api.dialects.control_plane.schemas import nodes as wire
from sandbox_runtime.model import BoxRecord, BoxState, Node, NodeState, Session, SessionState
from sandbox_runtime.store import Page

STATES_OF_BOX: Mapping[BoxState, tuple[SessionState, ...]] = {
    BoxState.created: (SessionState.creating,),
    BoxState.running: (SessionState.running,),
    BoxState.paused: (SessionState.paused,),
    BoxState.exited: tuple(state for state in SessionState if state.ended),
    BoxState.deleting: (),
}
_HEALTH = {NodeState.online: "healthy", NodeState.draining: "draining"}


def container_of(box: BoxRecord, session: Session, now_ms: int) -> wire.ContainerResponse:
    until_ms = box.exited_ms or now_ms
    return wire.ContainerResponse(
        id=box.id,
        container_id=box.id,
        session_id=box.session,
        template_id=box.template,
        pod_name=session.pod or None,
        runtime_type=box.backend,
        node_id=box.node,
        node_name=box.node,
        container_name=box.name,
        image_url=box.image,
        status=box.state,
        ip_address=box.address or None,
        cpu_cores=box.cpu_cores,
        memory_mb=box.memory_mb,
        disk_mb=box.disk_mb,
        resources=resource_limit(session.resources),
        created_at=moment_of(box.created_ms),
        started_at=time_of(box.started_ms),
        exited_at=time_of(box.exited_ms),
        uptime_seconds=0.0 if box.started_ms is None else max(0, until_ms - box.started_ms) / 1000,
    )


def page_of(items: list[wire.ContainerResponse], page: Page[Session]) -> wire.ContainerList:
    more = page.offset + len(page.items) < page.total
    return wire.ContainerList(
        containers=items, items=items, total=page.total, limit=page.limit, offset=page.offset, has_more=more
    )


def health_word(node: Node) -> str:
    return _HEALTH.get(node.state, "unhealthy")


def runtime_of(node: Node) -> wire.RuntimeNode:
    return wire.RuntimeNode(
        id=node.id,
        type=node.backend,
        runtime_type=node.backend,
        hostname=node.hostname,
        url=node.endpoint,
        status=health_word(node),
        state=node.state,
        cpu_usage=round(node.cpu_usage, 4),
        mem_usage=round(node.memory_usage, 4),
        session_count=node.boxes,
        max_sessions=node.max_boxes,
        total_cpu_cores=node.cpu_cores,
        total_memory_mb=node.memory_mb,
        allocated_cpu_cores=node.allocated_cpu_cores,
        allocated_memory_mb=node.allocated_memory_mb,
        cached_templates=list(node.cached_templates),
        last_heartbeat=time_of(node.heartbeat_ms),
        failure_count=node.failures,
    )


def health_of(node: Node) -> wire.RuntimeHealth:
    word = health_word(node)
    return wire.RuntimeHealth(
        id=node.id,
        status=word,
        healthy=word == "healthy",
        last_heartbeat=time_of(node.heartbeat_ms),
        failure_count=node.failures,
    )


def metrics_of(node: Node) -> wire.RuntimeMetrics:
    return wire.RuntimeMetrics(
        id=node.id,
        cpu_usage=round(node.cpu_usage, 4),
        mem_usage=round(node.memory_usage, 4),
        session_count=node.boxes,
        max_sessions=node.max_boxes,
        allocated_cpu_cores=node.allocated_cpu_cores,
        allocated_memory_mb=node.allocated_memory_mb,
    )
