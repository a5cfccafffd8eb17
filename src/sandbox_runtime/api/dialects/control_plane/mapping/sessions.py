"""Sessions, forwards and backwards."""

from __future__ import annotations

from collections.abc import Sequence

from sandbox_runtime.api.dialects.control_plane.quantities import bytes_of, cores_of, moment_of, text_of_bytes, time_of
from sandbox_runtime.api.dialects.control_plane.schemas import sessions as wire
from sandbox_runtime.model import Dependency, Resources, Session, Template
from sandbox_runtime.sessions import SessionSpec
from sandbox_runtime.store import Page

_RESOURCE_FIELDS = frozenset({"cpu", "memory", "disk"})


def spec_of(asked: wire.CreateSessionRequest, template: Template) -> SessionSpec:
    return SessionSpec(
        id=asked.id or "",
        template=template.id,
        agent=asked.agent_id or "",
        mode=asked.mode,
        resources=resources_of(asked, template.resources),
        env=asked.env_vars,
        timeout_s=float(asked.timeout) if "timeout" in asked.model_fields_set else None,
        idle_timeout_s=asked.idle_timeout,
        lifetime_s=asked.lifetime,
        network=asked.network or "",
        dependencies=dependencies_of(asked.dependencies),
        index_url=asked.python_package_index_url or "",
        install_timeout_s=float(asked.install_timeout),
        fail_on_dependency_error=asked.fail_on_dependency_error,
    )


def resources_of(asked: wire.CreateSessionRequest, usual: Resources) -> Resources | None:
    """None: all as the template says. Of the two forms, the object goes before the plain fields."""
    given = {name: getattr(asked, name) for name in _RESOURCE_FIELDS & asked.model_fields_set}
    if asked.resources is not None:
        given |= {name: getattr(asked.resources, name) for name in asked.resources.model_fields_set}
    if not given:
        return None
    return Resources(
        cpu_cores=cores_of(given["cpu"]) if "cpu" in given else usual.cpu_cores,
        memory_bytes=bytes_of(given["memory"], "memory") if "memory" in given else usual.memory_bytes,
        disk_bytes=bytes_of(given["disk"], "disk") if "disk" in given else usual.disk_bytes,
        processes=given.get("max_processes", usual.processes),
    )


def dependencies_of(asked: Sequence[wire.DependencySpec]) -> tuple[Dependency, ...]:
    return tuple(Dependency(entry.name, (entry.version or "").strip()) for entry in asked)


def answer_of(session: Session) -> wire.SessionResponse:
    installation, limit = session.installation, resource_limit(session.resources)
    return wire.SessionResponse(
        id=session.id,
        session_id=session.id,
        template_id=session.template,
        status=session.state,
        mode=session.mode,
        agent_id=session.agent or None,
        resource_limit=limit,
        resources=limit,
        workspace_path=session.workspace,
        network=session.network,
        language_runtime=session.runtime,
        runtime_type=session.backend,
        runtime_node=session.node or None,
        container_id=session.box or None,
        pod_name=session.pod or None,
        env_vars=dict(session.env),
        timeout=int(session.timeout_s),
        python_package_index_url=installation.index_url or None,
        requested_dependencies=[
            wire.RequestedDependency(name=one.name, version=one.version or None) for one in installation.requested
        ],
        installed_dependencies=[
            wire.InstalledDependency(
                name=one.name,
                version=one.version,
                install_location=one.location,
                install_time=time_of(one.installed_ms),
                is_from_template=one.from_template,
            )
            for one in installation.installed
        ],
        dependency_install_status=installation.state,
        dependency_install_error=installation.error or None,
        dependency_install_started_at=time_of(installation.started_ms),
        dependency_install_completed_at=time_of(installation.completed_ms),
        error_message=session.error or None,
        created_at=moment_of(session.created_ms),
        updated_at=moment_of(session.updated_ms or session.created_ms),
        started_at=time_of(session.started_ms),
        completed_at=time_of(session.completed_ms),
        last_activity_at=time_of(session.last_activity_ms),
        expires_at=time_of(session.expires_ms),
    )


def resource_limit(resources: Resources) -> wire.ResourceLimit:
    return wire.ResourceLimit(
        cpu=f"{resources.cpu_cores:g}",
        memory=text_of_bytes(resources.memory_bytes),
        disk=text_of_bytes(resources.disk_bytes),
        max_processes=resources.processes,
    )


def page_of(page: Page[Session]) -> wire.SessionList:
    items = [answer_of(session) for session in page.items]
    more = page.offset + len(items) < page.total
    return wire.SessionList(items=items, sessions=items, total=page.total, limit=page.limit, offset=page.offset, has_more=more)
