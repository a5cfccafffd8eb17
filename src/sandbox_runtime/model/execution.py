"""One run of code in a session, from the moment it was asked for until its result, and the files it left."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from sandbox_runtime.model import bounds
from sandbox_runtime.model.outcome import BLAME_OF, Blame, Ending

MAX_TIMEOUT_S = 86_400.0
STDIN_BYTES = bounds.TEXT_BYTES
_NOTE_BYTES = 64


class ExecutionKind(StrEnum):
    """code: a whole program. handler: a function called with an event. command: a shell's line. cell: code in a live context."""

    code = "code"
    handler = "handler"
    command = "command"
    cell = "cell"


class ExecutionState(StrEnum):
    pending = "pending"
    running = "running"
    completed = "completed"
    failed = "failed"
    timeout = "timeout"
    crashed = "crashed"
    cancelled = "cancelled"

    @property
    def ended(self) -> bool:
        return self not in (ExecutionState.pending, ExecutionState.running)


ENDED_EXECUTION_STATES = tuple(state for state in ExecutionState if state.ended)


class ArtifactKind(StrEnum):
    artifact = "artifact"
    log = "log"
    output = "output"
    file = "file"
    stdout = "stdout"
    stderr = "stderr"
    return_value = "return_value"


@dataclass(frozen=True, slots=True)
class Metering:
    """What an execution used. None: the host gives no such figure."""

    duration_ms: float = 0.0
    cpu_time_ms: float | None = None
    peak_memory_mb: float | None = None
    io_read_bytes: int | None = None
    io_write_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """Times are milliseconds since the epoch. What ends in _json is JSON as text; None means that there is none, which is not the
    value null. stdout and stderr hold what was kept, the *_dropped_bytes tell what was not. version counts changes."""

    id: str
    session: str
    kind: ExecutionKind = ExecutionKind.code
    state: ExecutionState = ExecutionState.pending
    language: str = ""
    code: str = ""
    entrypoint: str = ""
    event_json: str | None = None
    stdin: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    timeout_s: float = 30.0
    context: str = ""
    idempotency_key: str = ""
    exit_code: int | None = None
    signal: int | None = None
    ending: Ending | None = None
    stdout: str = ""
    stdout_dropped_bytes: int = 0
    stderr: str = ""
    stderr_dropped_bytes: int = 0
    return_value_json: str | None = None
    displays_json: str | None = None
    error: str = ""
    metering: Metering | None = None
    retries: int = 0
    created_ms: int
    updated_ms: int = 0
    started_ms: int | None = None
    completed_ms: int | None = None
    heartbeat_ms: int | None = None
    version: int = 0

    def __post_init__(self) -> None:
        bounds.check_id(self.id, "an execution's id", bounds.SHORT_ID_CHARACTERS)
        bounds.check_id(self.session, "the session of an execution")
        bounds.check_id(self.context, "the context of an execution", bounds.SHORT_ID_CHARACTERS, optional=True)
        bounds.check_name(self.idempotency_key, "an idempotency key", 255, optional=True)
        bounds.check_name(self.language, "the language of an execution", 32, optional=True)
        bounds.check_text(self.entrypoint, "entrypoint", 255)
        for what in ("code", "event_json", "stdin", "stdout", "stderr", "return_value_json", "displays_json"):
            bounds.check_text(getattr(self, what), what)
        bounds.check_text(self.error, "the error of an execution", bounds.MESSAGE_BYTES)
        bounds.check_env(self.env)
        bounds.check_number(self.timeout_s, "timeout_s", 0.001, MAX_TIMEOUT_S)
        bounds.check_number(self.retries, "retries", 0, 1000)

    @property
    def blame(self) -> Blame | None:
        return None if self.ending is None else BLAME_OF[self.ending]

    @property
    def text_bytes(self) -> int:
        """How much of it is text that a listing would have to carry."""
        texts = (self.code, self.event_json, self.stdin, self.stdout, self.stderr, self.return_value_json, self.displays_json)
        return sum(bounds.utf8_size(text) for text in texts if text)


def truncate_text(text: str, max_bytes: int = bounds.TEXT_BYTES) -> tuple[str, int]:
    """What is kept of an output, its head and its tail with a note between them, and how many bytes were dropped."""
    size = bounds.utf8_size(text)
    if size <= max_bytes:
        return text, 0
    raw, half = text.encode(), (max_bytes - _NOTE_BYTES) // 2
    # Cutting may halve a character at each edge; those bytes are dropped with the rest.
    head, tail = raw[:half].decode(errors="ignore"), raw[-half:].decode(errors="ignore")
    dropped = size - len(head.encode()) - len(tail.encode())
    return f"{head}\n[... {dropped} bytes dropped ...]\n{tail}", dropped


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """A file that an execution left. path is its name in the workspace, location where its bytes are kept."""

    id: str
    execution: str
    kind: ArtifactKind = ArtifactKind.artifact
    path: str
    location: str = ""
    size_bytes: int = 0
    content_type: str = "application/octet-stream"
    checksum: str = ""
    created_ms: int

    def __post_init__(self) -> None:
        bounds.check_id(self.id, "an artifact's id", bounds.SHORT_ID_CHARACTERS)
        bounds.check_id(self.execution, "the execution of an artifact", bounds.SHORT_ID_CHARACTERS)
        bounds.check_text(self.path, "the path of an artifact", 4096)
        bounds.check_text(self.location, "the location of an artifact", 4096)
        bounds.check_number(self.size_bytes, "size_bytes", 0, 2**62)
        bounds.check_name(self.content_type, "content_type", 128, optional=True)
        bounds.check_name(self.checksum, "checksum", 128, optional=True)
