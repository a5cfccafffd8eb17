"""Map sessions, executions and files to response bodies. Pure."""

from __future__ import annotations

import base64
import hashlib
import json
import mimetypes
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from sandbox_runtime.api.dialects.sandboxes.mapping.requests import DEFAULT_IMAGE, WORKSPACE
from sandbox_runtime.api.dialects.sandboxes.responses import now
from sandbox_runtime.api.dialects.sandboxes.schemas.base import PageResponse, Pagination
from sandbox_runtime.api.dialects.sandboxes.schemas.executions import CodeResult, ExecResult
from sandbox_runtime.api.dialects.sandboxes.schemas.files import FileMetadata, FileVersion, SandboxFile
from sandbox_runtime.api.dialects.sandboxes.schemas.sandboxes import Sandbox, SandboxResources, State, Status
from sandbox_runtime.api.dialects.sandboxes.schemas.version2 import LogEntry, SandboxEvent, SandboxHealth, SandboxHealthCheck
from sandbox_runtime.model import AuditEntry, Execution, ExecutionState, FileRecord, Session, SessionState
from sandbox_runtime.model.health import Health
from sandbox_runtime.workspace.listing import Entry, EntryKind

STATES_OF_STATUS: dict[str, tuple[SessionState, ...]] = {
    "creating": (SessionState.creating,),
    "running": (SessionState.running,),
    "paused": (SessionState.paused,),
    "stopped": (SessionState.paused, SessionState.completed),
    "error": (SessionState.failed, SessionState.timeout),
    "terminated": (SessionState.terminated,),
}
_STATUS: dict[SessionState, Status] = {
    SessionState.creating: "creating",
    SessionState.running: "running",
    SessionState.paused: "paused",
    SessionState.completed: "stopped",
    SessionState.failed: "error",
    SessionState.timeout: "error",
    SessionState.terminated: "terminated",
}
_STATE: dict[SessionState, State] = {
    SessionState.creating: "creating",
    SessionState.running: "ready",
    SessionState.paused: "paused",
    SessionState.completed: "stopped",
    SessionState.failed: "failed",
    SessionState.timeout: "failed",
    SessionState.terminated: "terminated",
}
_EVENT_TYPES = {"health": "health_alert", "recover": "recovery"}


def about_of(session: Session) -> dict[str, Any]:
    """Return what this dialect stored with the session; {} if another dialect stored something else."""
    about = json.loads(session.about_json) if session.about_json else {}
    return about if isinstance(about, dict) else {}


def to_sandbox(session: Session, *, busy: bool) -> Sandbox:
    about = about_of(session)
    return Sandbox(
        id=session.id,
        container_id=f"sandbox-{session.id[:8]}",
        name=str(about.get("name", "")),
        image=str(about.get("image", DEFAULT_IMAGE)),
        status=status_of(session),
        state=state_of(session, busy=busy),
        resources=SandboxResources(
            cpu_limit=f"{session.resources.cpu_cores:g}",
            memory_limit=session.resources.memory_bytes,
            disk_limit=session.resources.disk_bytes,
        ),
        environment=dict(session.env),
        network_mode="bridge" if session.network == "nat" else "none",
        created_at=to_timestamp(session.created_ms),
        updated_at=to_timestamp(session.updated_ms or session.created_ms),
        expires_at=to_timestamp(session.expires_ms) if session.expires_ms is not None else None,
        metadata=about.get("metadata") or {},
        error_message=session.error or None,
    )


def status_of(session: Session) -> Status:
    stopped = session.state is SessionState.paused and about_of(session).get("stopped")
    return "stopped" if stopped else _STATUS[session.state]


def state_of(session: Session, *, busy: bool) -> State:
    if session.state is SessionState.running and busy:
        return "running"
    stopped = session.state is SessionState.paused and about_of(session).get("stopped")
    return "stopped" if stopped else _STATE[session.state]


def to_page(items: Sequence[Any], total: int, size: int, offset: int, version: int) -> PageResponse:
    end = offset + len(items)
    return PageResponse(
        data=list(items),
        pagination=Pagination(
            page_size=size,
            page_offset=offset,
            has_next=end < total,
            has_prev=offset > 0,
            next_offset=end if end < total else None,
            prev_offset=max(0, offset - size) if offset > 0 else None,
        ),
        total=total,
        timestamp=now(),
        version=f"v{version}",
    )


def to_exec_result(execution: Execution) -> ExecResult:
    return ExecResult(
        exit_code=exit_code_of(execution),
        stdout=execution.stdout,
        stderr=execution.stderr,
        duration=duration_of(execution),
        timestamp=now(),
        status=execution.state,
        error=execution.error or None,
        stream_id=None if execution.state.ended else execution.id,
    )


def to_code_result(execution: Execution) -> CodeResult:
    return CodeResult(
        output=execution.stdout,
        error=execution.stderr or execution.error or None,
        exit_code=exit_code_of(execution),
        language=execution.language,
        duration=duration_of(execution),
        timestamp=now(),
        status=execution.state,
        stream_id=None if execution.state.ended else execution.id,
    )


def exit_code_of(execution: Execution) -> int | None:
    if not execution.state.ended or execution.exit_code is not None:
        return execution.exit_code
    if execution.signal is not None:
        return 128 + execution.signal
    return 0 if execution.state is ExecutionState.completed else -1


def duration_of(execution: Execution) -> float:
    return round(execution.metering.duration_ms / 1000, 6) if execution.metering else 0.0


def to_log_entry(execution: Execution) -> LogEntry:
    return LogEntry(
        timestamp=to_timestamp(execution.created_ms),
        execution_id=execution.id,
        kind=execution.kind,
        language=execution.language,
        status=execution.state,
        exit_code=exit_code_of(execution),
        stdout=execution.stdout,
        stderr=execution.stderr,
        error=execution.error or None,
    )


def to_health(health: Health) -> SandboxHealth:
    checks = [
        SandboxHealthCheck(check_type=check.kind.value, status=check.status.value, message=check.message)
        for check in health.checks
    ]
    return SandboxHealth(
        sandbox_id=health.session, status=health.status.value, checks=checks, timestamp=to_timestamp(health.at_ms)
    )


def to_event(entry: AuditEntry) -> SandboxEvent:
    """Return an entry of the session's audit log as an event."""
    details = json.loads(entry.details_json) if entry.details_json else {}
    event_type: Any = _EVENT_TYPES.get(entry.action, "state_change")
    default_severity = "error" if details.get("state") in ("failed", "timeout") else "info"
    return SandboxEvent(
        id=str(entry.id),
        type=event_type,
        severity=details.get("severity", default_severity),
        source=entry.actor or "owner",
        container_id=f"sandbox-{entry.subject[:8]}",
        title=entry.action,
        message=str(details.get("message", details.get("state", ""))),
        timestamp=to_timestamp(entry.at_ms),
        metadata=details,
    )


def to_file(
    entry: Entry,
    name: str,
    content: bytes | None = None,
    encoding: str = "utf8",
    versions: Sequence[FileRecord] = (),
    *,
    history: bool = False,
) -> SandboxFile:
    """Return a file or folder.

    - content: included as text if it is UTF-8 and `encoding` is not base64, otherwise as base64.
    - versions: records of its uploads, newest first.
    - history: include all versions, not only the newest.
    """
    optional: dict[str, Any] = {} if content is None else dict(_encode_content(content, encoding))
    if versions and not versions[0].deleted_ms:
        optional["metadata"] = _to_metadata(versions, entry, history=history)
        if versions[0].etag == entry.etag:
            optional.setdefault("checksum", versions[0].checksum)
    return SandboxFile(
        path=f"{WORKSPACE}/{name}" if name else WORKSPACE,
        name=name.rpartition("/")[2],
        size=entry.size_bytes,
        mod_time=to_timestamp(entry.modified_ns // 1_000_000),
        is_dir=entry.kind is EntryKind.folder,
        mode=f"{entry.mode:04o}",
        content_type=None if entry.kind is EntryKind.folder else mimetypes.guess_type(name)[0] or "application/octet-stream",
        **optional,
    )


def _to_metadata(versions: Sequence[FileRecord], entry: Entry, *, history: bool) -> FileMetadata:
    newest = versions[0]
    return FileMetadata(
        version=newest.version,
        current=newest.etag == entry.etag,
        mime_type=newest.media_type,
        checksum=newest.checksum,
        access_count=newest.reads,
        last_accessed=None if newest.read_ms is None else to_timestamp(newest.read_ms),
        created_at=to_timestamp(newest.created_ms),
        versions=[_to_version(record) for record in versions] if history else None,
    )


def _to_version(record: FileRecord) -> FileVersion:
    return FileVersion(
        version=record.version,
        size=record.size_bytes,
        checksum=record.checksum,
        created_at=to_timestamp(record.created_ms),
        deleted_at=to_timestamp(record.deleted_ms) if record.deleted_ms else None,
    )


def _encode_content(content: bytes, encoding: str) -> dict[str, str]:
    checksum = f"sha256:{hashlib.sha256(content).hexdigest()}"
    if encoding != "base64":
        try:
            return {"content": content.decode(), "encoding": "utf8", "checksum": checksum}
        except UnicodeDecodeError:
            pass  # not text: the `encoding` of the response is base64
    return {"content": base64.b64encode(content).decode(), "encoding": "base64", "checksum": checksum}


def to_timestamp(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds")
