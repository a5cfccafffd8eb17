"""Models of sessions, executions, contexts and files. Fields that a newer server adds are kept."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import AliasChoices, Field

from sandbox_runtime.sdk.execution_models import ServerModel

LIVE_SESSION = frozenset({"creating", "running", "paused"})
LIVE_EXECUTION = frozenset({"pending", "submitted", "running"})


class Dependency(ServerModel):
    """`version`: such as 2.3.3 or >=2; None for any."""

    name: str
    version: str | None = None


class InstalledDependency(ServerModel):
    name: str
    version: str = ""
    install_location: str = ""
    install_time: datetime | None = None
    is_from_template: bool = False


class ResourceLimit(ServerModel):
    cpu: str = ""
    memory: str = ""
    disk: str = ""
    max_processes: int | None = None


class SessionInfo(ServerModel):
    id: str
    template_id: str = ""
    status: str
    mode: str = "ephemeral"
    agent_id: str | None = None
    resource_limit: ResourceLimit | None = None
    workspace_path: str | None = None
    network: str | None = None
    language_runtime: str | None = None
    runtime_type: str | None = None
    runtime_node: str | None = None
    container_id: str | None = None
    env_vars: dict[str, str] = Field(default_factory=dict)
    timeout: float | None = None
    requested_dependencies: list[Dependency] = Field(default_factory=list)
    installed_dependencies: list[InstalledDependency] = Field(default_factory=list)
    dependency_install_status: str | None = None
    dependency_install_error: str | None = None
    error_message: str | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None
    completed_at: datetime | None = None
    last_activity_at: datetime | None = None

    @property
    def ended(self) -> bool:
        return self.status not in LIVE_SESSION


class SessionPage(ServerModel):
    items: list[SessionInfo]
    total: int
    limit: int = 50
    offset: int = 0
    has_more: bool = False


class SessionCopies(ServerModel):
    sessions: list[SessionInfo]


class Metrics(ServerModel):
    """Resources used by an execution. None if the host does not measure them."""

    duration_ms: float = 0.0
    cpu_time_ms: float | None = None
    peak_memory_mb: float | None = None
    io_read_bytes: int | None = None
    io_write_bytes: int | None = None


class Artifact(ServerModel):
    """A file created by an execution in its workspace."""

    path: str
    size: int = 0
    mime_type: str | None = None
    type: str = "artifact"
    checksum: str | None = None
    created_at: datetime | None = None


class ExecutionResult(ServerModel):
    """An execution in any state. A failed program is a result: check ok, or status and exit_code."""

    id: str = Field(validation_alias=AliasChoices("id", "execution_id"))
    session_id: str = ""
    status: str
    code: str = ""
    language: str = ""
    timeout: float | None = None
    exit_code: int | None = None
    error_message: str | None = None
    execution_time: float | None = None
    stdout: str = ""
    stderr: str = ""
    return_value: Any = None
    metrics: Metrics | None = None
    artifacts: list[Artifact] = Field(default_factory=list)
    displays: list[dict[str, Any]] | None = None
    retry_count: int = 0
    created_at: datetime | None = None
    started_at: datetime | None = None
    completed_at: datetime | None = None

    @property
    def result(self) -> Any:
        """The return value of the handler."""
        return self.return_value

    @property
    def ended(self) -> bool:
        return self.status not in LIVE_EXECUTION

    @property
    def ok(self) -> bool:
        return self.status in ("completed", "success") and not self.exit_code


class ExecutionPage(ServerModel):
    items: list[ExecutionResult]
    total: int
    limit: int = 50
    offset: int = 0


class ContextInfo(ServerModel):
    """A live interpreter of a session."""

    id: str
    session_id: str = ""
    language: str = "python"
    executions: int = 0
    busy: bool = False
    alive: bool = True
    created_at: datetime | None = None


class ContextList(ServerModel):
    contexts: list[ContextInfo]


class FileInfo(ServerModel):
    name: str
    size: int = 0
    type: str | None = None
    container_path: str | None = None
    modified_time: datetime | None = None
    etag: str | None = None


class FileList(ServerModel):
    files: list[FileInfo]


class UploadedFile(ServerModel):
    file_path: str
    size: int


class FileChange(ServerModel):
    """kind: created, modified or deleted; ready: the watch has started; overflow: changes were lost, list the folder again."""

    kind: str
    name: str = ""
    is_folder: bool = False


class TemplateInfo(ServerModel):
    id: str
    name: str
    runtime_type: str = ""
    default_cpu_cores: float | None = None
    default_memory_mb: int | None = None
    default_disk_mb: int | None = None
    default_timeout_sec: float | None = None
    default_env_vars: dict[str, str] | None = None
    is_active: bool = True


@dataclass(frozen=True, slots=True)
class Output:
    """A piece of output: data starts at byte `offset` of its stream."""

    stream: str
    offset: int
    data: bytes

    @property
    def text(self) -> str:
        """The text of this piece. A character cut at its end is replaced; join the bytes first to avoid that."""
        return self.data.decode(errors="replace")
