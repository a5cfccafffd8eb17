"""Containers (the boxes of sessions), runtime nodes, health and audit."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field

from sandbox_runtime.api.dialects.control_plane.schemas.sessions import ResourceLimit
from sandbox_runtime.model import BoxState


class ContainerResponse(BaseModel):
    """A container, with the fields of both versions of the protocol."""

    id: str
    container_id: str
    session_id: str
    template_id: str
    pod_name: str | None
    runtime_type: str
    node_id: str
    node_name: str
    container_name: str
    image_url: str
    status: BoxState
    ip_address: str | None
    cpu_cores: float
    memory_mb: int
    disk_mb: int
    resources: ResourceLimit
    created_at: datetime
    started_at: datetime | None
    exited_at: datetime | None
    uptime_seconds: float


class ContainerList(BaseModel):
    containers: list[ContainerResponse]
    items: list[ContainerResponse]
    total: int
    limit: int
    offset: int
    has_more: bool


class RuntimeNode(BaseModel):
    id: str
    type: str
    runtime_type: str
    hostname: str
    url: str
    status: str = Field(description="healthy, unhealthy or draining")
    state: str = Field(description="state of the node in the implementation")
    cpu_usage: float
    mem_usage: float
    session_count: int
    max_sessions: int
    total_cpu_cores: float
    total_memory_mb: int
    allocated_cpu_cores: float
    allocated_memory_mb: int
    cached_templates: list[str]
    last_heartbeat: datetime | None
    failure_count: int


class RuntimeList(BaseModel):
    runtimes: list[RuntimeNode]
    items: list[RuntimeNode]
    total: int


class RuntimeHealth(BaseModel):
    id: str
    status: str
    healthy: bool
    last_heartbeat: datetime | None
    failure_count: int


class RuntimeMetrics(BaseModel):
    id: str
    cpu_usage: float
    mem_usage: float
    session_count: int
    max_sessions: int
    allocated_cpu_cores: float
    allocated_memory_mb: int


class HealthResponse(BaseModel):
    status: str
    version: str
    uptime: float


class DetailedHealthResponse(HealthResponse):
    dependencies: dict[str, dict[str, str | int | float]]


class SyncResponse(BaseModel):
    status: str
    message: str
    result: dict[str, int]


class AboutResponse(BaseModel):
    name: str
    version: str
    status: str
    features: list[str]
    documentation: str = Field(description="path of the API documentation")


class AuditItem(BaseModel):
    at: datetime
    actor: str = Field(description="owner of the key that made the change; empty if keys are not required")
    action: str
    kind: str = Field(description="kind of object: session, execution, template, key …")
    subject: str = Field(description="id of the object")
    owner: str = Field(description="owner of the object")
    details: dict[str, Any] | None


class AuditList(BaseModel):
    items: list[AuditItem]
    total: int
