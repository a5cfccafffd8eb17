"""Bodies of the routes that only version 2 has: batches, logs, metrics, health and events."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from sandbox_runtime.api.dialects.sandboxes.schemas.base import (
    Json,
    ResponseModel,
    SandboxErrorInfo,
    Seconds,
    StrictRequestModel,
)
from sandbox_runtime.api.dialects.sandboxes.schemas.sandboxes import State

Period = Literal["raw", "1m", "5m", "1h", "1d"]
MetricType = Literal["counter", "gauge", "histogram"]


class BatchOptions(StrictRequestModel):
    continue_on_error: bool = False
    timeout: Annotated[Seconds, Field(description="For the whole batch.")] = 300.0
    max_concurrency: Annotated[int, Field(ge=1, le=32)] = 4


class BatchActionRequest(StrictRequestModel):
    action: Literal["start", "stop", "restart", "delete", "terminate", "exec", "code"]
    sandbox_ids: Annotated[list[Annotated[str, StringConstraints(min_length=1, max_length=255)]], Field(max_length=100)]
    parameters: Annotated[Json, Field(description="The request body of exec or code. Empty for other actions.")] = Field({})
    options: BatchOptions = BatchOptions()


class BatchActionResult(ResponseModel):
    sandbox_id: str
    success: bool
    result: Any = None
    error: SandboxErrorInfo | None = None


class BatchActionSummary(ResponseModel):
    total: int
    succeeded: int
    failed: int


class BatchActionResponse(ResponseModel):
    results: list[BatchActionResult]
    summary: BatchActionSummary
    timestamp: str


class LogEntry(ResponseModel):
    """The output and result of one execution."""

    timestamp: str
    execution_id: str
    kind: str
    language: str
    status: str
    exit_code: int | None = None
    stdout: str = ""
    stderr: str = ""
    error: str | None = None


class MetricPoint(ResponseModel):
    timestamp: str = Field(description="Time of the observation, or start of the aggregation period.")
    value: float = Field(description="Sum for a counter, otherwise the mean of the observations.")
    count: int = Field(description="Number of observations.")
    min: float
    max: float
    aggregation_period: Period


class MetricSeries(ResponseModel):
    metric_name: str
    metric_type: MetricType
    labels: dict[str, str]
    points: list[MetricPoint]


class SandboxUsage(ResponseModel):
    """Resource usage at the last measurement. A value is missing if it has not been measured."""

    cpu_usage_seconds: float | None = None
    memory_usage_bytes: int | None = None
    disk_usage_bytes: int | None = None
    network_rx_bytes: int | None = None
    network_tx_bytes: int | None = None
    last_resource_update: str | None = None


class SandboxMetrics(ResponseModel):
    """Sums over the executions in the server's records, and time series."""

    sandbox_id: str
    state: State
    uptime_seconds: float
    executions: dict[str, int] = Field(description="Number of executions by status.")
    complete: bool = Field(description="False if there are more executions than were summed up.")
    cpu_usage_seconds: float
    execution_seconds: float
    memory_peak_bytes: int
    memory_limit_bytes: int
    disk_usage_bytes: int | None = None
    disk_limit_bytes: int
    usage: SandboxUsage
    series: list[MetricSeries]
    timestamp: str


class SandboxHealthCheck(ResponseModel):
    check_type: Literal["liveness", "readiness", "resource", "custom"]
    status: Literal["healthy", "warning", "unhealthy", "unknown"]
    message: str


class SandboxHealth(ResponseModel):
    sandbox_id: str
    status: Literal["healthy", "warning", "unhealthy", "unknown"] = Field(description="The worst status of the checks.")
    checks: list[SandboxHealthCheck]
    timestamp: str


class SandboxEvent(ResponseModel):
    id: str
    type: Literal["state_change", "health_alert", "recovery"]
    severity: Literal["info", "warning", "error"]
    source: str
    container_id: str
    title: str
    message: str
    timestamp: str
    metadata: Json
