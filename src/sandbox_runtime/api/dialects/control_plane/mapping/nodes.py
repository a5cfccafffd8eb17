"""Convert boxes to containers and nodes to runtimes."""

from __future__ import annotations

from collections.abc import Mapping

from sandbox_runtime.api.dialects.control_plane.mapping.sessions import to_resource_limit
from sandbox_runtime.api.dialects.control_plane.mapping.times import to_datetime
from sandbox_runtime.api.dialects.control_plane.schemas import nodes as schemas
from sandbox_runtime.model import BoxRecord, BoxState, Node, NodeState, Session, SessionState
from sandbox_runtime.store import Page

SESSION_STATES: Mapping[BoxState, tuple[SessionState, ...]] = {
    BoxState.created: (SessionState.creating,),
    BoxState.running: (SessionState.running,),
    BoxState.paused: (SessionState.paused,),
    BoxState.exited: tuple(state for state in SessionState if state.ended),
    BoxState.deleting: (),
}
_HEALTH_STATUS = {NodeState.online: "healthy", NodeState.draining: "draining"}


def to_container(box: BoxRecord, session: Session, now_ms: int) -> schemas.ContainerResponse:
    until_ms = box.exited_ms or now_ms
    return schemas.ContainerResponse(
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
        resources=to_resource_limit(session.resources),
        created_at=to_datetime(box.created_ms),
        started_at=to_datetime(box.started_ms),
        exited_at=to_datetime(box.exited_ms),
        uptime_seconds=0.0 if box.started_ms is None else max(0, until_ms - box.started_ms) / 1000,
    )


def to_container_list(items: list[schemas.ContainerResponse], page: Page[Session]) -> schemas.ContainerList:
    has_more = page.offset + len(page.items) < page.total
    return schemas.ContainerList(
        containers=items, items=items, total=page.total, limit=page.limit, offset=page.offset, has_more=has_more
    )


def health_status(node: Node) -> str:
    return _HEALTH_STATUS.get(node.state, "unhealthy")


def to_runtime(node: Node) -> schemas.RuntimeNode:
    return schemas.RuntimeNode(
        id=node.id,
        type=node.backend,
        runtime_type=node.backend,
        hostname=node.hostname,
        url=node.endpoint,
        status=health_status(node),
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
        last_heartbeat=to_datetime(node.heartbeat_ms),
        failure_count=node.failures,
    )


def to_health(node: Node) -> schemas.RuntimeHealth:
    status = health_status(node)
    return schemas.RuntimeHealth(
        id=node.id,
        status=status,
        healthy=status == "healthy",
        last_heartbeat=to_datetime(node.heartbeat_ms),
        failure_count=node.failures,
    )


def to_metrics(node: Node) -> schemas.RuntimeMetrics:
    return schemas.RuntimeMetrics(
        id=node.id,
        cpu_usage=round(node.cpu_usage, 4),
        mem_usage=round(node.memory_usage, 4),
        session_count=node.boxes,
        max_sessions=node.max_boxes,
        allocated_cpu_cores=node.allocated_cpu_cores,
        allocated_memory_mb=node.allocated_memory_mb,
    )
