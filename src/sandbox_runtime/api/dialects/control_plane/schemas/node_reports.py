"""Reports of other nodes."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, Field

from sandbox_runtime.api.number_fields import Number, RequestModel
from sandbox_runtime.model import ArtifactKind

_MAX_OUTPUT_LENGTH = 1024 * 1024


class ContainerReadyReport(BaseModel):
    container_id: str = Field(min_length=1, max_length=128)
    session_id: str | None = Field(None, max_length=255)
    pod_name: str | None = Field(None, max_length=128)
    executor_port: int = Field(8080, ge=1, le=65535)
    ready_at: datetime | None = None


class ContainerExitedReport(RequestModel):
    container_id: str | None = Field(None, max_length=128)
    session_id: str | None = Field(None, max_length=255)
    exit_code: int = 0
    exit_reason: Literal["normal", "sigterm", "sigkill", "oom_killed", "error"] = "normal"
    exited_at: datetime | None = None


class HeartbeatReport(RequestModel):
    timestamp: datetime | None = None


class ReportedMetrics(RequestModel):
    duration_ms: Number = Field(ge=0)
    cpu_time_ms: Number | None = None
    peak_memory_mb: Number | None = None
    io_read_bytes: int | None = None
    io_write_bytes: int | None = None


class ExecutionResultReport(RequestModel):
    status: str
    """Checked by the route, which returns 400 for an unknown status."""
    stdout: str = Field("", max_length=_MAX_OUTPUT_LENGTH)
    stderr: str = Field("", max_length=_MAX_OUTPUT_LENGTH)
    exit_code: int
    execution_time: Number = Field(ge=0)
    return_value: Any = None
    metrics: ReportedMetrics | None = None
    artifacts: list[str] = Field(default_factory=list, max_length=1000)
    error: str | None = Field(None, max_length=16_000)


class ExecutionStatusReport(BaseModel):
    status: Literal["running", "timeout", "crashed"]
    started_at: datetime | None = None
    crashed_at: datetime | None = None
    timeout_at: datetime | None = None
    error: str | None = Field(None, max_length=16_000)


class ReportedArtifact(BaseModel):
    path: str = Field(min_length=1, max_length=4096)
    size: int = Field(0, ge=0)
    mime_type: str = Field("application/octet-stream", max_length=128)
    type: ArtifactKind = ArtifactKind.artifact
    created_at: datetime | None = None
    checksum: str | None = Field(None, max_length=128)
    download_url: str | None = Field(None, max_length=4096)


class ArtifactReport(BaseModel):
    artifacts: list[ReportedArtifact] = Field(max_length=1000)
