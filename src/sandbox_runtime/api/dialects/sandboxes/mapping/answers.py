"""From nouns to messages of this protocol. Pure."""

from __future__ import annotations

import base64
import hashlib
import json
import mimetypes
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from sandbox_runtime.api.dialects.sandboxes import schemas
from sandbox_runtime.api.dialects.sandboxes.mapping.requests import DEFAULT_IMAGE, WORKSPACE
from sandbox_runtime.api.dialects.sandboxes.responses import now
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
_STATUS: dict[SessionState, schemas.Status] = {
    SessionState.creating: "creating",
    SessionState.running: "running",
    SessionState.paused: "paused",
    SessionState.completed: "stopped",
    SessionState.failed: "error",
    SessionState.timeout: "error",
    SessionState.terminated: "terminated",
}
_STATE: dict[SessionState, schemas.State] = {
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
    """What was noted with it; another dialect's notes are none of ours."""
    found = json.loads(session.about_json) if session.about_json else {}
    return found if isinstance(found, dict) else {}


def sandbox(session: Session, *, at_work: bool) -> schemas.Sandbox:
    about = about_of(session)
    return schemas.Sandbox(
        id=session.id,
        container_id=f"sandbox-{session.id[:8]}",
        name=str(about.get("name", "")),
        image=str(about.get("image", DEFAULT_IMAGE)),
        status=status_of(session),
        state=state_of(session, at_work=at_work),
        resources=schemas.ResourcesTold(
            cpu_limit=f"{session.resources.cpu_cores:g}",
            memory_limit=session.resources.memory_bytes,
            disk_limit=session.resources.disk_bytes,
        ),
        environment=dict(session.env),
        network_mode="bridge" if session.network == "nat" else "none",
        created_at=moment(session.created_ms),
        updated_at=moment(session.updated_ms or session.created_ms),
        expires_at=moment(session.expires_ms) if session.expires_ms is not None else None,
        metadata=about.get("metadata") or {},
        error_message=session.error or None,
    )


def status_of(session: Session) -> schemas.Status:
    stopped = session.state is SessionState.paused and about_of(session).get("stopped")
    return "stopped" if stopped else _STATUS[session.state]


def state_of(session: Session, *, at_work: bool) -> schemas.State:
    if session.state is SessionState.running and at_work:
        return "running"
    stopped = session.state is SessionState.paused and about_of(session).get("stopped")
    return "stopped" if stopped else _STATE[session.state]


def page(items: Sequence[Any], total: int, size: int, offset: int, version: int) -> schemas.Listed:
    end = offset + len(items)
    return schemas.Listed(
        data=list(items),
        pagination=schemas.Pagination(
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


def exec_result(execution: Execution) -> schemas.ExecResult:
    return schemas.ExecResult(
        exit_code=exit_code_of(execution),
        stdout=execution.stdout,
        stderr=execution.stderr,
        duration=duration_of(execution),
        timestamp=now(),
        status=execution.state,
        error=execution.error or None,
        stream_id=None if execution.state.ended else execution.id,
    )


def code_result(execution: Execution) -> schemas.CodeResult:
    """error: what went to stderr, or why it did not run to its end."""
    return schemas.CodeResult(
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


def log_entry(execution: Execution) -> schemas.LogEntry:
    return schemas.LogEntry(
        timestamp=moment(execution.created_ms),
        execution_id=execution.id,
        kind=execution.kind,
        language=execution.language,
        status=execution.state,
        exit_code=exit_code_of(execution),
        stdout=execution.stdout,
        stderr=execution.stderr,
        error=execution.error or None,
    )


def health(found: Health) -> schemas.SandboxHealth:
    checks = [
        schemas.HealthCheck(check_type=one.kind.value, status=one.status.value, message=one.message) for one in found.checks
    ]
    return schemas.SandboxHealth(
        sandbox_id=found.session, status=found.status.value, checks=checks, timestamp=moment(found.at_ms)
    )


def event(entry: AuditEntry) -> schemas.SandboxEvent:
    """The audit's entries of a session, in the words of this protocol."""
    facts = json.loads(entry.details_json) if entry.details_json else {}
    kind: Any = _EVENT_TYPES.get(entry.action, "state_change")
    usual = "error" if facts.get("state") in ("failed", "timeout") else "info"
    return schemas.SandboxEvent(
        id=str(entry.id),
        type=kind,
        severity=facts.get("severity", usual),
        source=entry.actor or "owner",
        container_id=f"sandbox-{entry.subject[:8]}",
        title=entry.action,
        message=str(facts.get("message", facts.get("state", ""))),
        timestamp=moment(entry.at_ms),
        metadata=facts,
    )


def file(
    entry: Entry,
    name: str,
    content: bytes | None = None,
    encoding: str = "utf8",
    versions: Sequence[FileRecord] = (),
    *,
    history: bool = False,
) -> schemas.File:
    """With its content where that is given: as text where it is text and nobody wants base64. versions: of what was sent in, the
    newest first; history: all of them are told."""
    more: dict[str, Any] = {} if content is None else dict(_content(content, encoding))
    if versions and not versions[0].deleted_ms:
        more["metadata"] = _sent(versions, entry, history=history)
        if versions[0].etag == entry.etag:
            more.setdefault("checksum", versions[0].checksum)
    return schemas.File(
        path=f"{WORKSPACE}/{name}" if name else WORKSPACE,
        name=name.rpartition("/")[2],
        size=entry.size_bytes,
        mod_time=moment(entry.modified_ns // 1_000_000),
        is_dir=entry.kind is EntryKind.folder,
        mode=f"{entry.mode:04o}",
        content_type=None if entry.kind is EntryKind.folder else mimetypes.guess_type(name)[0] or "application/octet-stream",
        **more,
    )


def _sent(versions: Sequence[FileRecord], entry: Entry, *, history: bool) -> schemas.FileMetadata:
    newest = versions[0]
    return schemas.FileMetadata(
        version=newest.version,
        current=newest.etag == entry.etag,
        mime_type=newest.media_type,
        checksum=newest.checksum,
        access_count=newest.reads,
        last_accessed=None if newest.read_ms is None else moment(newest.read_ms),
        created_at=moment(newest.created_ms),
        versions=[_version(one) for one in versions] if history else None,
    )


def _version(record: FileRecord) -> schemas.FileVersion:
    return schemas.FileVersion(
        version=record.version,
        size=record.size_bytes,
        checksum=record.checksum,
        created_at=moment(record.created_ms),
        deleted_at=moment(record.deleted_ms) if record.deleted_ms else None,
    )


def _content(content: bytes, encoding: str) -> dict[str, str]:
    checksum = f"sha256:{hashlib.sha256(content).hexdigest()}"
    if encoding != "base64":
        try:
            return {"content": content.decode(), "encoding": "utf8", "checksum": checksum}
        except UnicodeDecodeError:
            pass  # it is no text: the encoding that is told says so
    return {"content": base64.b64encode(content).decode(), "encoding": "base64", "checksum": checksum}


def moment(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds")
