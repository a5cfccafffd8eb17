"""Sessions."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, BaseModel, BeforeValidator, Field, StringConstraints

from sandbox_runtime.api.number_fields import Number, RequestModel
from sandbox_runtime.model import InstallState, SessionMode, SessionState
from sandbox_runtime.quantities import parse_bytes, parse_cpu


def _check_amount(value: object) -> str:
    parse_bytes(value, decimal=True)
    return str(value)


def _check_cores(value: object) -> str:
    parse_cpu(value)
    return str(value)


Id = Annotated[str, StringConstraints(min_length=1, max_length=64)]
Amount = Annotated[str, BeforeValidator(_check_amount)]
Cores = Annotated[str, BeforeValidator(_check_cores)]


class DependencySpec(BaseModel):
    name: Annotated[str, StringConstraints(min_length=1, max_length=100)]
    version: Annotated[str, StringConstraints(max_length=100)] | None = None


class ResourceRequest(RequestModel):
    """Resources of a session. Fields set here override cpu, memory and disk of the request."""

    cpu: Cores = "1"
    memory: Amount = "512Mi"
    disk: Amount = "1Gi"
    max_processes: int = Field(128, ge=32, le=1024)


class CreateSessionRequest(RequestModel):
    """A session to create. cpu, memory, disk and timeout default to the template's. resource_limit is an alias of resources."""

    id: Id | None = None
    template_id: Id
    timeout: int = Field(300, ge=1, le=3600)
    cpu: Cores = "1"
    memory: Amount = "512Mi"
    disk: Amount = "1Gi"
    resources: ResourceRequest | None = Field(None, validation_alias=AliasChoices("resources", "resource_limit"))
    mode: SessionMode = SessionMode.ephemeral
    agent_id: Annotated[str, StringConstraints(max_length=128)] | None = None
    env_vars: dict[str, str] = Field(default_factory=dict)
    event: dict[str, Any] | None = None
    dependencies: list[DependencySpec] = Field(default_factory=list, max_length=50)
    install_timeout: int = Field(300, ge=30, le=1800)
    fail_on_dependency_error: bool = True
    allow_version_conflicts: bool = False
    python_package_index_url: Annotated[str, StringConstraints(max_length=512)] | None = None
    idle_timeout: Number | None = Field(None, gt=0, le=30 * 86_400)
    lifetime: Number | None = Field(None, gt=0, le=30 * 86_400)
    network: Literal["none", "nat"] | None = Field(None, description="null: the default of the server")


class InstallRequest(RequestModel):
    python_package_index_url: Annotated[str, StringConstraints(max_length=512)] | None = None
    dependencies: list[DependencySpec] = Field(min_length=1, max_length=50)
    install_timeout: int = Field(300, ge=30, le=1800)


class ForkRequest(RequestModel):
    count: int = Field(1, ge=1, le=1000)


class ResourceLimit(BaseModel):
    cpu: str
    memory: str
    disk: str
    max_processes: int


class RequestedDependency(BaseModel):
    name: str
    version: str | None


class InstalledDependency(BaseModel):
    name: str
    version: str
    install_location: str
    install_time: datetime | None
    is_from_template: bool


class SessionResponse(BaseModel):
    id: str
    session_id: str
    template_id: str
    status: SessionState
    mode: SessionMode
    agent_id: str | None
    resource_limit: ResourceLimit
    resources: ResourceLimit
    workspace_path: str
    network: str
    language_runtime: str
    runtime_type: str
    runtime_node: str | None
    container_id: str | None
    pod_name: str | None
    env_vars: dict[str, str]
    timeout: int
    python_package_index_url: str | None
    requested_dependencies: list[RequestedDependency]
    installed_dependencies: list[InstalledDependency]
    dependency_install_status: InstallState
    dependency_install_error: str | None
    dependency_install_started_at: datetime | None
    dependency_install_completed_at: datetime | None
    error_message: str | None
    created_at: datetime
    updated_at: datetime
    started_at: datetime | None
    completed_at: datetime | None
    last_activity_at: datetime | None
    expires_at: datetime | None


class SessionList(BaseModel):
    """`items` and `sessions` are the same list."""

    items: list[SessionResponse]
    sessions: list[SessionResponse]
    total: int
    limit: int
    offset: int
    has_more: bool


class ForkResponse(BaseModel):
    session_id: str
    sessions: list[SessionResponse]
    count: int
