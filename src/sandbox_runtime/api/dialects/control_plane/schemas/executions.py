"""Executions and contexts."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field

from sandbox_runtime.api.number_fields import RequestModel
from sandbox_runtime.model import ArtifactKind, ExecutionKind, ExecutionState


class ExecuteCodeRequest(RequestModel):
    """Code to execute. If it defines a handler, the handler is called with `event`; otherwise it runs as a program."""

    code: str = Field(min_length=1, max_length=102_400)
    language: str = Field(min_length=1, max_length=32, description="python, javascript, shell or another language of the catalog")
    timeout: int = Field(30, ge=1, le=3600)
    event: dict[str, Any] | None = None
    stdin: str | None = Field(None, max_length=1024 * 1024)
    env_vars: dict[str, str] = Field(default_factory=dict)
    async_mode: bool = Field(False, description="ignored: the route decides whether to wait")


class ExecuteInContextRequest(RequestModel):
    code: str = Field(min_length=1, max_length=102_400)
    timeout: int = Field(30, ge=1, le=3600)


class SubmitResponse(BaseModel):
    execution_id: str
    session_id: str
    status: str
    created_at: datetime
    submitted_at: datetime


class ExecutionMetrics(BaseModel):
    duration_ms: float
    cpu_time_ms: float | None
    peak_memory_mb: float | None
    io_read_bytes: int | None
    io_write_bytes: int | None


class ArtifactResponse(BaseModel):
    path: str
    size: int
    mime_type: str
    type: ArtifactKind
    created_at: datetime
    checksum: str | None


class ExecutionResponse(BaseModel):
    id: str
    execution_id: str
    session_id: str
    kind: ExecutionKind
    status: ExecutionState
    code: str
    language: str
    timeout: int
    context_id: str | None
    exit_code: int | None
    error_message: str | None
    execution_time: float | None
    stdout: str
    stderr: str
    stdout_dropped_bytes: int
    stderr_dropped_bytes: int
    artifacts: list[ArtifactResponse]
    retry_count: int
    created_at: datetime
    submitted_at: datetime
    started_at: datetime | None
    completed_at: datetime | None
    return_value: Any
    displays: list[Any]
    metrics: ExecutionMetrics | None


class ExecutionResult(BaseModel):
    execution_id: str
    session_id: str
    status: str = Field(description="pending, running, success, failed or timeout")
    stdout: str
    stderr: str
    exit_code: int | None
    execution_time: float | None
    return_value: Any
    metrics: ExecutionMetrics | None
    artifacts: list[str]
    error_message: str | None
    completed_at: datetime | None


class ExecutionStatus(BaseModel):
    execution_id: str
    session_id: str
    status: ExecutionState
    created_at: datetime
    started_at: datetime | None
    completed_at: datetime | None
    exit_code: int | None
    error_message: str | None


class ExecutionList(BaseModel):
    """`items` and `executions` are the same list."""

    items: list[ExecutionResponse]
    executions: list[ExecutionResponse]
    total: int
    limit: int
    offset: int
    has_more: bool


class ContextResponse(BaseModel):
    id: str
    context_id: str
    session_id: str
    language: str
    created_at: datetime
    executions: int
    busy: bool
    alive: bool
    can_be_copied: bool


class ContextList(BaseModel):
    contexts: list[ContextResponse]
    total: int
