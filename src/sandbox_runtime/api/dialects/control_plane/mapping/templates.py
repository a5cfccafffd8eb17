"""Templates, forwards and backwards."""

from __future__ import annotations

import json
from typing import Any

from sandbox_runtime.api.dialects.control_plane.mapping.sessions import resource_limit
from sandbox_runtime.api.dialects.control_plane.quantities import moment_of
from sandbox_runtime.api.dialects.control_plane.schemas import templates as wire
from sandbox_runtime.model import Resources, Template
from sandbox_runtime.model.limits import MIB

_SAME = {
    "name": "name",
    "description": "description",
    "image_url": "image",
    "base_image": "base_image",
    "default_env_vars": "env",
    "is_active": "active",
}


def template_of(asked: wire.CreateTemplateRequest, now_ms: int) -> Template:
    resources = Resources(asked.default_cpu_cores, asked.default_memory_mb * MIB, asked.default_disk_mb * MIB)
    return Template(
        id=asked.id,
        name=asked.name,
        description=asked.description,
        image=asked.image_url,
        base_image=asked.base_image,
        runtime=asked.runtime_type,
        resources=resources,
        timeout_s=float(asked.default_timeout),
        packages=tuple(asked.pre_installed_packages),
        env=asked.default_env_vars or {},
        security_json=_json(asked.security_context),
        created_ms=now_ms,
    )


def changes_of(asked: wire.UpdateTemplateRequest, present: Template) -> dict[str, Any]:
    """What is not given, and what is null, stays."""
    given = {name: value for name, value in asked.model_dump(exclude_unset=True).items() if value is not None}
    changes: dict[str, Any] = {_SAME[name]: value for name, value in given.items() if name in _SAME}
    if "pre_installed_packages" in given:
        changes["packages"] = tuple(given["pre_installed_packages"])
    if "security_context" in given:
        changes["security_json"] = _json(given["security_context"])
    if "default_timeout" in given:
        changes["timeout_s"] = float(given["default_timeout"])
    resources = _resources(given, present.resources)
    return changes | ({"resources": resources} if resources != present.resources else {})


def answer_of(template: Template) -> wire.TemplateResponse:
    resources = template.resources
    return wire.TemplateResponse(
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
        default_resources=resource_limit(resources),
        security_context=None if template.security_json is None else json.loads(template.security_json),
        is_active=template.active,
        created_at=moment_of(template.created_ms),
        updated_at=moment_of(template.updated_ms or template.created_ms),
    )


def _resources(given: dict[str, Any], present: Resources) -> Resources:
    return Resources(
        cpu_cores=given.get("default_cpu_cores", present.cpu_cores),
        memory_bytes=given["default_memory_mb"] * MIB if "default_memory_mb" in given else present.memory_bytes,
        disk_bytes=given["default_disk_mb"] * MIB if "default_disk_mb" in given else present.disk_bytes,
        processes=present.processes,
    )


def _json(value: dict[str, Any] | None) -> str | None:
    return None if value is None else json.dumps(value)
