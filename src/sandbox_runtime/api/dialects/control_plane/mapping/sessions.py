"""Convert sessions."""

from __future__ import annotations

from collections.abc import Sequence

from sandbox_runtime.api.dialects.control_plane.mapping.times import to_datetime
from sandbox_runtime.api.dialects.control_plane.schemas import sessions as schemas
from sandbox_runtime.model import Dependency, Resources, Session, Template
from sandbox_runtime.quantities import format_bytes, parse_bytes, parse_cpu
from sandbox_runtime.sessions import SessionSpec
from sandbox_runtime.store import Page

_RESOURCE_FIELDS = frozenset({"cpu", "memory", "disk"})


def to_spec(body: schemas.CreateSessionRequest, template: Template) -> SessionSpec:
    return SessionSpec(
        id=body.id or "",
        template=template.id,
        agent=body.agent_id or "",
        mode=body.mode,
        resources=to_resources(body, template.resources),
        env=body.env_vars,
        timeout_s=float(body.timeout) if "timeout" in body.model_fields_set else None,
        idle_timeout_s=body.idle_timeout,
        lifetime_s=body.lifetime,
        network=body.network or "",
        dependencies=to_dependencies(body.dependencies),
        index_url=body.python_package_index_url or "",
        install_timeout_s=float(body.install_timeout),
        fail_on_dependency_error=body.fail_on_dependency_error,
    )


def to_resources(body: schemas.CreateSessionRequest, default: Resources) -> Resources | None:
    """Return None to use the resources of the template. `resources` overrides cpu, memory and disk."""
    given = {name: getattr(body, name) for name in _RESOURCE_FIELDS & body.model_fields_set}
    if body.resources is not None:
        given |= {name: getattr(body.resources, name) for name in body.resources.model_fields_set}
    if not given:
        return None
    return Resources(
        cpu_cores=parse_cpu(given["cpu"]) if "cpu" in given else default.cpu_cores,
        memory_bytes=parse_bytes(given["memory"], "memory", decimal=True) if "memory" in given else default.memory_bytes,
        disk_bytes=parse_bytes(given["disk"], "disk", decimal=True) if "disk" in given else default.disk_bytes,
        processes=given.get("max_processes", default.processes),
    )


def to_dependencies(specs: Sequence[schemas.DependencySpec]) -> tuple[Dependency, ...]:
    return tuple(Dependency(spec.name, (spec.version or "").strip()) for spec in specs)


def to_response(session: Session) -> schemas.SessionResponse:
    installation, limit = session.installation, to_resource_limit(session.resources)
    return schemas.SessionResponse(
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
            schemas.RequestedDependency(name=package.name, version=package.version or None) for package in installation.requested
        ],
        installed_dependencies=[
            schemas.InstalledDependency(
                name=package.name,
                version=package.version,
                install_location=package.location,
                install_time=to_datetime(package.installed_ms),
                is_from_template=package.from_template,
            )
            for package in installation.installed
        ],
        dependency_install_status=installation.state,
        dependency_install_error=installation.error or None,
        dependency_install_started_at=to_datetime(installation.started_ms),
        dependency_install_completed_at=to_datetime(installation.completed_ms),
        error_message=session.error or None,
        created_at=to_datetime(session.created_ms),
        updated_at=to_datetime(session.updated_ms or session.created_ms),
        started_at=to_datetime(session.started_ms),
        completed_at=to_datetime(session.completed_ms),
        last_activity_at=to_datetime(session.last_activity_ms),
        expires_at=to_datetime(session.expires_ms),
    )


def to_resource_limit(resources: Resources) -> schemas.ResourceLimit:
    return schemas.ResourceLimit(
        cpu=f"{resources.cpu_cores:g}",
        memory=format_bytes(resources.memory_bytes),
        disk=format_bytes(resources.disk_bytes),
        max_processes=resources.processes,
    )


def to_list(page: Page[Session]) -> schemas.SessionList:
    items = [to_response(session) for session in page.items]
    has_more = page.offset + len(items) < page.total
    return schemas.SessionList(
        items=items, sessions=items, total=page.total, limit=page.limit, offset=page.offset, has_more=has_more
    )
