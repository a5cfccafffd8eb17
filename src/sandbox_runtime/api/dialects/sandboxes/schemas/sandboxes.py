"""Bodies of the routes of sandboxes."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, field_validator

from sandbox_runtime.api.dialects.sandboxes.schemas.base import Environment, Json, Name, ResponseModel, StrictRequestModel
from sandbox_runtime.api.number_fields import Number
from sandbox_runtime.quantities import parse_bytes, parse_cpu

Status = Literal["creating", "running", "paused", "stopped", "error", "terminated"]
State = Literal["creating", "ready", "running", "paused", "stopped", "failed", "terminated"]


class SandboxResourcesRequest(StrictRequestModel):
    """A missing value is that of the template."""

    cpu_limit: Annotated[str | float | None, Field(description="CPU cores: 0.5, 2.")] = None
    memory_limit: Annotated[str | int | None, Field(description="Bytes, or text such as 512M or 1G.")] = None
    disk_limit: Annotated[str | int | None, Field(description="Bytes, or text such as 1G.")] = None

    @field_validator("memory_limit", "disk_limit", mode="before")
    @classmethod
    def _check_size(cls, value: object) -> object:
        if value is not None:
            parse_bytes(value)
        return value

    @field_validator("cpu_limit", mode="before")
    @classmethod
    def _check_cpu(cls, value: object) -> object:
        if value is not None:
            parse_cpu(value)
        return value


class SandboxResources(ResponseModel):
    cpu_limit: str
    memory_limit: int
    disk_limit: int


class CreateSandboxRequest(StrictRequestModel):
    name: Name = ""
    image: Annotated[
        str, Field(max_length=512, description="Stored with the sandbox only: every sandbox has all languages of the server.")
    ] = ""
    resources: SandboxResourcesRequest = SandboxResourcesRequest()
    environment: Environment = Field({})
    metadata: Json = Field({})
    ttl: Annotated[Number | None, Field(gt=0, le=30 * 86_400, description="Seconds after which the sandbox ends.")] = None
    network_mode: Annotated[Literal["none", "bridge", "host"] | None, Field(description="none: no network.")] = None
    template: Name = ""


class UpdateSandboxRequest(StrictRequestModel):
    """A missing field keeps its value (PATCH) or becomes empty (PUT). Image and resources cannot be changed."""

    name: Name | None = None
    environment: Environment | None = None
    metadata: Json | None = None
    ttl: Annotated[Number | None, Field(gt=0, le=30 * 86_400, description="Seconds from now.")] = None


class Sandbox(ResponseModel):
    id: str
    container_id: str
    name: str
    image: str
    status: Status = Field(description="Status of the record.")
    state: State = Field(description="Like status, but ready while nothing runs in the sandbox and running while something does.")
    resources: SandboxResources
    environment: dict[str, str]
    network_mode: str
    working_dir: str = "/workspace"
    created_at: str
    updated_at: str
    expires_at: str | None = None
    metadata: Json
    error_message: str | None = None
