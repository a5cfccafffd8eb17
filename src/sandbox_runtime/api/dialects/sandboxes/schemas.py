"""The messages of this protocol."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, StringConstraints, field_validator

from sandbox_runtime.api.number_fields import Number, RequestModel
from sandbox_runtime.quantities import parse_bytes, parse_cpu

MOST_FILE_BYTES = 10 * 1024 * 1024
LONGEST_S = 3600.0
Json = dict[str, JsonValue]
Text = Annotated[str, StringConstraints(max_length=1024 * 1024)]
Name = Annotated[str, StringConstraints(max_length=128)]
Path = Annotated[str, StringConstraints(min_length=1, max_length=4096)]
Seconds = Annotated[Number, Field(gt=0, le=LONGEST_S)]
Environment = Annotated[dict[str, Annotated[str, StringConstraints(max_length=32_768)]], Field(max_length=256)]
Encoding = Literal["utf8", "utf-8", "base64"]
CallStatus = Literal["running", "completed", "failed", "cancelled"]
Status = Literal["creating", "running", "paused", "stopped", "error", "terminated"]
Period = Literal["raw", "1m", "5m", "1h", "1d"]
MetricType = Literal["counter", "gauge", "histogram"]
State = Literal["creating", "ready", "running", "paused", "stopped", "failed", "terminated"]


class Asked(RequestModel, BaseModel):
    """A name that there is not is an error: a misspelt one would otherwise be passed over."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Told(BaseModel):
    model_config = ConfigDict(frozen=True)


class SandboxFault(Told):
    code: int = Field(description="The HTTP status.")
    message: str
    details: Any = None
    timestamp: str
    request_id: str | None = None


class SandboxRefusal(Told):
    error: SandboxFault


class ResourcesAsked(Asked):
    """What is left out is as the server gives it."""

    cpu_limit: Annotated[str | float | None, Field(description="Cores: 0.5, 2.")] = None
    memory_limit: Annotated[str | int | None, Field(description="Bytes, or such as 512M, 1G.")] = None
    disk_limit: Annotated[str | int | None, Field(description="Bytes, or such as 1G.")] = None

    @field_validator("memory_limit", "disk_limit", mode="before")
    @classmethod
    def _is_size(cls, value: object) -> object:
        if value is not None:
            parse_bytes(value)
        return value

    @field_validator("cpu_limit", mode="before")
    @classmethod
    def _is_cpu(cls, value: object) -> object:
        if value is not None:
            parse_cpu(value)
        return value


class ResourcesTold(Told):
    cpu_limit: str
    memory_limit: int
    disk_limit: int


class CreateSandbox(Asked):
    name: Name = ""
    image: Annotated[
        str, Field(max_length=512, description="Noted with the sandbox: every sandbox has all languages of the server.")
    ] = ""
    resources: ResourcesAsked = ResourcesAsked()
    environment: Environment = {}
    metadata: Json = {}
    ttl: Annotated[Number | None, Field(gt=0, le=30 * 86_400, description="Seconds after which it ends by itself.")] = None
    network_mode: Annotated[Literal["none", "bridge", "host"] | None, Field(description="none: no network at all.")] = None
    template: Name = ""


class ChangeSandbox(Asked):
    """What is left out stays as it is (PATCH), or becomes empty (PUT). Image and resources are decided when it is made."""

    name: Name | None = None
    environment: Environment | None = None
    metadata: Json | None = None
    ttl: Annotated[Number | None, Field(gt=0, le=30 * 86_400, description="Seconds from now.")] = None


class Sandbox(Told):
    """status: as sandboxes are recorded. state: more finely: ready until something runs in it, running while something does."""

    id: str
    container_id: str
    name: str
    image: str
    status: Status
    state: State
    resources: ResourcesTold
    environment: dict[str, str]
    network_mode: str
    working_dir: str = "/workspace"
    created_at: str
    updated_at: str
    expires_at: str | None = None
    metadata: Json
    error_message: str | None = None


class Pagination(Told):
    page_size: int
    page_offset: int
    has_next: bool
    has_prev: bool
    next_offset: int | None = None
    prev_offset: int | None = None


class Listed(Told):
    data: list[Any]
    pagination: Pagination
    total: int
    timestamp: str
    version: str


class Exec(Asked):
    command: Annotated[str, Field(min_length=1, max_length=65_536, description="Without args it is split into words; no shell.")]
    args: Annotated[list[Text] | None, Field(max_length=1000)] = None
    environment: Environment = {}
    working_dir: Path = "/workspace"
    timeout: Seconds = 30.0
    stream: Annotated[bool, Field(description="Answer at once, with the stream_id at which the output is followed.")] = False
    input: Text | None = None


class ExecResult(Told):
    """exit_code: of a program that a signal ended, 128 and the signal's number; -1 where there is none."""

    exit_code: int | None = None
    stdout: str = ""
    stderr: str = ""
    duration: float = Field(0.0, description="Seconds.")
    timestamp: str
    status: str
    error: str | None = None
    stream_id: str | None = None


class Code(Asked):
    code: Annotated[str, StringConstraints(min_length=1, max_length=1024 * 1024)]
    language: Annotated[str | None, Field(max_length=32, description="Guessed where it is left out.")] = None
    filename: Annotated[str | None, Field(max_length=255, description="Under which a Python program is kept.")] = None
    environment: Environment = {}
    packages: Annotated[
        list[Annotated[str, StringConstraints(min_length=1, max_length=200)]],
        Field(
            max_length=50, description="Of its language, as that one's own package client writes them: installed before it runs."
        ),
    ] = []
    timeout: Seconds = 30.0
    stream: bool = False
    input: Text | None = None


class CodeResult(Told):
    output: str = ""
    error: str | None = None
    exit_code: int | None = None
    language: str
    duration: float = Field(0.0, description="Seconds.")
    timestamp: str
    status: str
    stream_id: str | None = None


class Upload(Asked):
    path: Path
    content: str
    encoding: Encoding = "utf8"
    permissions: Annotated[str | None, Field(pattern=r"^0?[0-7]{3}$", description="In octal: 644.")] = None
    overwrite: bool = False


class Write(Asked):
    content: str
    encoding: Encoding = "utf8"
    permissions: Annotated[str | None, Field(pattern=r"^0?[0-7]{3}$", description="In octal: 644.")] = None
    overwrite: bool = True


class FileVersion(Told):
    version: int
    size: int
    checksum: str
    created_at: str
    deleted_at: str | None = None


class FileMetadata(Told):
    """Of a file that was sent in. current: it is as it was sent; false where a program has changed it since. versions: the
    newest first; told of a single file alone."""

    version: int
    current: bool
    mime_type: str
    checksum: str
    access_count: int
    last_accessed: str | None = None
    created_at: str
    versions: list[FileVersion] | None = None


class File(Told):
    path: str
    name: str
    size: int
    mod_time: str
    is_dir: bool
    mode: str
    content: str | None = None
    content_type: str | None = None
    encoding: str | None = None
    checksum: str | None = None
    metadata: FileMetadata | None = None


class BatchOptions(Asked):
    continue_on_error: bool = False
    timeout: Annotated[Seconds, Field(description="For all of it together.")] = 300.0
    max_concurrency: Annotated[int, Field(ge=1, le=32)] = 4


class Batch(Asked):
    action: Literal["start", "stop", "restart", "delete", "terminate", "exec", "code"]
    sandbox_ids: Annotated[list[Annotated[str, StringConstraints(min_length=1, max_length=255)]], Field(max_length=100)]
    parameters: Annotated[Json, Field(description="Of exec and code: their bodies.")] = {}
    options: BatchOptions = BatchOptions()


class BatchResult(Told):
    sandbox_id: str
    success: bool
    result: Any = None
    error: SandboxFault | None = None


class Summary(Told):
    total: int
    succeeded: int
    failed: int


class BatchResults(Told):
    results: list[BatchResult]
    summary: Summary
    timestamp: str


class LogEntry(Told):
    """One execution: what it printed and how it ended."""

    timestamp: str
    execution_id: str
    kind: str
    language: str
    status: str
    exit_code: int | None = None
    stdout: str = ""
    stderr: str = ""
    error: str | None = None


class MetricPoint(Told):
    """timestamp: when, or where its period begins. value: of a counter the sum, else the mean of count observations."""

    timestamp: str
    value: float
    count: int
    min: float
    max: float
    aggregation_period: Period


class MetricSeries(Told):
    metric_name: str
    metric_type: MetricType
    labels: dict[str, str]
    points: list[MetricPoint]


class ResourceUsage(Told):
    """All that it used, as it was noted last. None: nobody has measured it."""

    cpu_usage_seconds: float | None = None
    memory_usage_bytes: int | None = None
    disk_usage_bytes: int | None = None
    network_rx_bytes: int | None = None
    network_tx_bytes: int | None = None
    last_resource_update: str | None = None


class SandboxMetrics(Told):
    """Of executions that the server still remembers; complete says whether all of them were added up. series: what was measured
    over time."""

    sandbox_id: str
    state: State
    uptime_seconds: float
    executions: dict[str, int]
    complete: bool
    cpu_usage_seconds: float
    execution_seconds: float
    memory_peak_bytes: int
    memory_limit_bytes: int
    disk_usage_bytes: int | None = None
    disk_limit_bytes: int
    usage: ResourceUsage
    series: list[MetricSeries]
    timestamp: str


class HealthCheck(Told):
    check_type: Literal["liveness", "readiness", "resource", "custom"]
    status: Literal["healthy", "warning", "unhealthy", "unknown"]
    message: str


class SandboxHealth(Told):
    """status: the worst of the checks."""

    sandbox_id: str
    status: Literal["healthy", "warning", "unhealthy", "unknown"]
    checks: list[HealthCheck]
    timestamp: str


class SandboxEvent(Told):
    id: str
    type: Literal["state_change", "health_alert", "recovery"]
    severity: Literal["info", "warning", "error"]
    source: str
    container_id: str
    title: str
    message: str
    timestamp: str
    metadata: Json


class RetryPolicy(Asked):
    max_retries: Annotated[int, Field(ge=0, le=10)] = 0
    initial_delay: Annotated[Number, Field(ge=0, le=60)] = 0.5
    backoff_factor: Annotated[Number, Field(ge=1, le=10)] = 2.0
    max_delay: Annotated[Number, Field(ge=0, le=300)] = 30.0


class ToolOptions(Asked):
    timeout: Seconds = 300.0
    async_: Annotated[bool, Field(alias="async", description="Answer at once, with the execution_id to fetch it by.")] = False
    stream: Annotated[bool, Field(description="Answer with server-sent events; not together with async.")] = False
    retry_policy: RetryPolicy = RetryPolicy()


class ExecuteTool(Asked):
    arguments: Json = {}
    options: ToolOptions = ToolOptions()


class ToolResult(Told):
    """execution_id: of one that was begun with async. While it runs there is no result."""

    result: Any = None
    is_error: bool
    status: CallStatus
    execution_id: str | None = None
    duration: float
    timestamp: str
    metadata: dict[str, Any] | None = None


class Described(Told):
    """A tool, a resource or a prompt, as the Model Context Protocol tells it."""

    model_config = ConfigDict(extra="allow", frozen=True)
