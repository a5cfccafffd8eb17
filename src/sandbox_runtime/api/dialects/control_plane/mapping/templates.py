"""Convert templates."""

from __future__ import annotations

import json
from typing import Any

from sandbox_runtime.api.dialects.control_plane.mapping.sessions import to_resource_limit
from sandbox_runtime.api.dialects.control_plane.mapping.times import to_datetime
from sandbox_runtime.api.dialects.control_plane.schemas import templates as schemas
from sandbox_runtime.model import Resources, Template
from sandbox_runtime.model.limits import MIB

_MODEL_FIELDS = {
    "name": "name",
    "description": "description",
    "image_url": "image",
    "base_image": "base_image",
    "default_env_vars": "env",
    "is_active": "active",
}


def to_template(body: schemas.CreateTemplateRequest, now_ms: int) -> Template:
    resources = Resources(body.default_cpu_cores, body.default_memory_mb * MIB, body.default_disk_mb * MIB)
    return Template(
        id=body.id,
        name=body.name,
        description=body.description,
        image=body.image_url,
        base_image=body.base_image,
        runtime=body.runtime_type,
        resources=resources,
        timeout_s=float(body.default_timeout),
        packages=tuple(body.pre_installed_packages),
        env=body.default_env_vars or {},
        security_json=_json(body.security_context),
        created_ms=now_ms,
    )


def to_changes(body: schemas.UpdateTemplateRequest, template: Template) -> dict[str, Any]:
    """Return the changed fields. Missing and null fields stay as they are."""
    given = {name: value for name, value in body.model_dump(exclude_unset=True).items() if value is not None}
    changes: dict[str, Any] = {_MODEL_FIELDS[name]: value for name, value in given.items() if name in _MODEL_FIELDS}
    if "pre_installed_packages" in given:
        changes["packages"] = tuple(given["pre_installed_packages"])
    if "security_context" in given:
        changes["security_json"] = _json(given["security_context"])
    if "default_timeout" in given:
        changes["timeout_s"] = float(given["default_timeout"])
    resources = _resources(given, template.resources)
    return changes | ({"resources": resources} if resources != template.resources else {})


def to_response(template: Template) -> schemas.TemplateResponse:
    resources = template.resources
    return schemas.TemplateResponse(
        id=template.id,
        name=template.name,
        description=template.description,
        image_url=template.image,
        image=template.image,
        base_image=template.base_image,
        runtime_type=template.runtime,
        pre_installed_packages=list(template.packages),
        default_cpu_cores=resources.cpu_cores,
        default_memory_mb=resources.memory_bytes // MIB,
        default_disk_mb=resources.disk_bytes // MIB,
        default_timeout_sec=int(template.timeout_s),
        default_timeout=int(template.timeout_s),
        default_env_vars=dict(template.env),
        default_resources=to_resource_limit(resources),
        security_context=None if template.security_json is None else json.loads(template.security_json),
        is_active=template.active,
        created_at=to_datetime(template.created_ms),
        updated_at=to_datetime(template.updated_ms or template.created_ms),
    )


def _resources(given: dict[str, Any], template: Resources) -> Resources:
    return Resources(
        cpu_cores=given.get("default_cpu_cores", template.cpu_cores),
        memory_bytes=given["default_memory_mb"] * MIB if "default_memory_mb" in given else template.memory_bytes,
        disk_bytes=given["default_disk_mb"] * MIB if "default_disk_mb" in given else template.disk_bytes,
        processes=template.processes,
    )


def _json(value: dict[str, Any] | None) -> str | None:
    return None if value is None else json.dumps(value)
