"""Templates. The design document calls some fields image, default_resources and pre_installed_packages."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, StringConstraints

from sandbox_runtime.api.dialects.control_plane.schemas.sessions import ResourceLimit
from sandbox_runtime.api.number_fields import Number, RequestModel

RuntimeType = Literal["python3.11", "nodejs20", "java17", "go1.21"]
Name = Annotated[str, StringConstraints(min_length=1, max_length=255)]
Image = Annotated[str, StringConstraints(min_length=1, max_length=512)]
_IMAGE = AliasChoices("image_url", "image")
_TIMEOUT_NAMES = AliasChoices("default_timeout", "default_timeout_sec")


class CreateTemplateRequest(RequestModel):
    model_config = ConfigDict(populate_by_name=True)

    id: Annotated[str, StringConstraints(min_length=1, max_length=64)]
    name: Name
    image_url: Image = Field(validation_alias=_IMAGE)
    runtime_type: RuntimeType = "python3.11"
    description: Annotated[str, StringConstraints(max_length=500)] = ""
    base_image: Annotated[str, StringConstraints(max_length=256)] = ""
    pre_installed_packages: list[str] = Field(default_factory=list, max_length=500)
    security_context: dict[str, Any] | None = None
    default_cpu_cores: Number = Field(0.5, ge=0.1, le=4)
    default_memory_mb: int = Field(512, ge=128, le=8192)
    default_disk_mb: int = Field(1024, ge=256, le=51_200)
    default_timeout: int = Field(300, ge=60, le=3600, validation_alias=_TIMEOUT_NAMES)
    default_env_vars: dict[str, str] | None = None


class UpdateTemplateRequest(RequestModel):
    model_config = ConfigDict(populate_by_name=True)

    name: Name | None = None
    image_url: Image | None = Field(None, validation_alias=_IMAGE)
    description: Annotated[str, StringConstraints(max_length=500)] | None = None
    base_image: Annotated[str, StringConstraints(max_length=256)] | None = None
    pre_installed_packages: list[str] | None = Field(None, max_length=500)
    security_context: dict[str, Any] | None = None
    default_cpu_cores: Number | None = Field(None, ge=0.1, le=4)
    default_memory_mb: int | None = Field(None, ge=128, le=8192)
    default_disk_mb: int | None = Field(None, ge=256, le=51_200)
    default_timeout: int | None = Field(None, ge=60, le=3600, validation_alias=_TIMEOUT_NAMES)
    default_env_vars: dict[str, str] | None = None
    is_active: bool | None = None


class TemplateResponse(BaseModel):
    id: str
    name: str
    description: str
    image_url: str
    image: str
    base_image: str
    runtime_type: str
    pre_installed_packages: list[str]
    default_cpu_cores: float
    default_memory_mb: int
    default_disk_mb: int
    default_timeout_sec: int
    default_timeout: int
    default_env_vars: dict[str, str]
    default_resources: ResourceLimit
    security_context: Any
    is_active: bool
    created_at: datetime
    updated_at: datetime
