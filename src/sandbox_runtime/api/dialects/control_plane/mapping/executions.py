"""Convert executions and contexts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sandbox_runtime.api.dialects.control_plane.mapping.times import to_datetime
from sandbox_runtime.api.dialects.control_plane.schemas import executions as schemas
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.model import Artifact, Execution, ExecutionKind, ExecutionState, Metering
from sandbox_runtime.sessions import ContextView, ExecutionSpec
from sandbox_runtime.store import Page

SHELL_LANGUAGES = ("shell", "bash", "sh")
TIMEOUT_EXIT_CODE = -1
MAX_KEY_CHARACTERS = 255
_RESULT_STATUS: Mapping[ExecutionState, str] = {
    ExecutionState.completed: "success",
    ExecutionState.timeout: "timeout",
    ExecutionState.pending: "pending",
    ExecutionState.running: "running",
}


def to_spec(body: schemas.ExecuteCodeRequest, idempotency_key: str = "") -> ExecutionSpec:
    """Shell code runs as a command. In other languages the handler is called if the code defines one."""
    shell = body.language.lower() in SHELL_LANGUAGES
    return ExecutionSpec(
        code=body.code,
        kind=ExecutionKind.command if shell else ExecutionKind.code,
        language=body.language.lower(),
        event=body.event,
        stdin=body.stdin,
        env=body.env_vars,
        timeout_s=float(body.timeout),
        call_handler=not shell,
        artifacts=True,
        idempotency_key=check_idempotency_key(idempotency_key),
    )


def to_cell_spec(body: schemas.ExecuteInContextRequest, context_id: str, idempotency_key: str = "") -> ExecutionSpec:
    return ExecutionSpec(
        code=body.code,
        kind=ExecutionKind.cell,
        timeout_s=float(body.timeout),
        context=context_id,
        idempotency_key=check_idempotency_key(idempotency_key),
    )


def check_idempotency_key(key: str) -> str:
    if len(key) > MAX_KEY_CHARACTERS or not key.isprintable():
        raise InvalidRequest(f"an Idempotency-Key must be printable and have at most {MAX_KEY_CHARACTERS} characters")
    return key.strip()


def to_submit_response(execution: Execution) -> schemas.SubmitResponse:
    created = to_datetime(execution.created_ms)
    return schemas.SubmitResponse(
        execution_id=execution.id,
        session_id=execution.session,
        status=execution.state,
        created_at=created,
        submitted_at=created,
    )


def to_response(execution: Execution, artifacts: Sequence[Artifact] = ()) -> schemas.ExecutionResponse:
    created = to_datetime(execution.created_ms)
    displays = parse_json(execution.displays_json)
    return schemas.ExecutionResponse(
        id=execution.id,
        execution_id=execution.id,
        session_id=execution.session,
        kind=execution.kind,
        status=execution.state,
        code=execution.code,
        language=execution.language,
        timeout=int(execution.timeout_s),
        context_id=execution.context or None,
        exit_code=_exit_code(execution),
        error_message=execution.error or None,
        execution_time=execution_time(execution),
        stdout=execution.stdout,
        stderr=execution.stderr,
        stdout_dropped_bytes=execution.stdout_dropped_bytes,
        stderr_dropped_bytes=execution.stderr_dropped_bytes,
        artifacts=[to_artifact(artifact) for artifact in artifacts],
        retry_count=execution.retries,
        created_at=created,
        submitted_at=created,
        started_at=to_datetime(execution.started_ms),
        completed_at=to_datetime(execution.completed_ms),
        return_value=parse_json(execution.return_value_json),
        displays=displays if isinstance(displays, list) else [],
        metrics=to_metrics(execution.metering),
    )


def to_result(execution: Execution, artifacts: Sequence[Artifact]) -> schemas.ExecutionResult:
    """Executions that ended without success have failed; this includes cancelled and crashed ones."""
    return schemas.ExecutionResult(
        execution_id=execution.id,
        session_id=execution.session,
        status=_RESULT_STATUS.get(execution.state, "failed"),
        stdout=execution.stdout,
        stderr=execution.stderr,
        exit_code=_exit_code(execution),
        execution_time=execution_time(execution),
        return_value=parse_json(execution.return_value_json),
        metrics=to_metrics(execution.metering),
        artifacts=[artifact.path for artifact in artifacts],
        error_message=execution.error or None,
        completed_at=to_datetime(execution.completed_ms),
    )


def to_status(execution: Execution) -> schemas.ExecutionStatus:
    return schemas.ExecutionStatus(
        execution_id=execution.id,
        session_id=execution.session,
        status=execution.state,
        created_at=to_datetime(execution.created_ms),
        started_at=to_datetime(execution.started_ms),
        completed_at=to_datetime(execution.completed_ms),
        exit_code=_exit_code(execution),
        error_message=execution.error or None,
    )


def to_list(page: Page[Execution]) -> schemas.ExecutionList:
    items = [to_response(execution) for execution in page.items]
    has_more = page.offset + len(items) < page.total
    return schemas.ExecutionList(
        items=items, executions=items, total=page.total, limit=page.limit, offset=page.offset, has_more=has_more
    )


def to_artifact(artifact: Artifact) -> schemas.ArtifactResponse:
    return schemas.ArtifactResponse(
        path=artifact.path,
        size=artifact.size_bytes,
        mime_type=artifact.content_type,
        type=artifact.kind,
        created_at=to_datetime(artifact.created_ms),
        checksum=artifact.checksum or None,
    )


def to_metrics(metering: Metering | None) -> schemas.ExecutionMetrics | None:
    if metering is None:
        return None
    return schemas.ExecutionMetrics(
        duration_ms=metering.duration_ms,
        cpu_time_ms=metering.cpu_time_ms,
        peak_memory_mb=metering.peak_memory_mb,
        io_read_bytes=metering.io_read_bytes,
        io_write_bytes=metering.io_write_bytes,
    )


def execution_time(execution: Execution) -> float | None:
    """Return the duration in seconds, or None if the execution has not ended."""
    if execution.metering is not None:
        return round(execution.metering.duration_ms / 1000, 6)
    if execution.started_ms is None or execution.completed_ms is None:
        return None
    return (execution.completed_ms - execution.started_ms) / 1000


def parse_json(text: str | None) -> Any:
    """Parse JSON text. NaN and infinity become None, because JSON has neither."""
    return None if text is None else json.loads(text, parse_constant=lambda _: None)


def to_context(view: ContextView) -> schemas.ContextResponse:
    return schemas.ContextResponse(
        id=view.id,
        context_id=view.id,
        session_id=view.session,
        language=view.language,
        created_at=to_datetime(view.created_ms),
        executions=view.executions,
        busy=view.busy,
        alive=view.alive,
        can_be_copied=view.can_be_copied,
    )


def _exit_code(execution: Execution) -> int | None:
    return TIMEOUT_EXIT_CODE if execution.state is ExecutionState.timeout else execution.exit_code
