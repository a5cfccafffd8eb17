"""Executions and contexts, forwards and backwards."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sandbox_runtime.api.dialects.control_plane.quantities import moment_of, time_of
from sandbox_runtime.api.dialects.control_plane.schemas import executions as wire
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.model import Artifact, Execution, ExecutionKind, ExecutionState, Metering
from sandbox_runtime.sessions import ContextView, ExecutionSpec
from sandbox_runtime.store import Page

SHELL = ("shell", "bash", "sh")
TIMED_OUT = -1
"""The exit code of what ran out of time, in this protocol."""
MOST_KEY_CHARACTERS = 255
_RESULT_WORD: Mapping[ExecutionState, str] = {
    ExecutionState.completed: "success",
    ExecutionState.timeout: "timeout",
    ExecutionState.pending: "pending",
    ExecutionState.running: "running",
}


def spec_of(asked: wire.ExecuteCodeRequest, idempotency_key: str = "") -> ExecutionSpec:
    """A shell's line runs as a command; in any other language a handler is called where there is one."""
    shell = asked.language.lower() in SHELL
    return ExecutionSpec(
        code=asked.code,
        kind=ExecutionKind.command if shell else ExecutionKind.code,
        language=asked.language.lower(),
        event=asked.event,
        stdin=asked.stdin,
        env=asked.env_vars,
        timeout_s=float(asked.timeout),
        call_found=not shell,
        artifacts=True,
        idempotency_key=checked_key(idempotency_key),
    )


def cell_of(asked: wire.ExecuteInContextRequest, context_id: str, idempotency_key: str = "") -> ExecutionSpec:
    return ExecutionSpec(
        code=asked.code,
        kind=ExecutionKind.cell,
        timeout_s=float(asked.timeout),
        context=context_id,
        idempotency_key=checked_key(idempotency_key),
    )


def checked_key(key: str) -> str:
    if len(key) > MOST_KEY_CHARACTERS or not key.isprintable():
        raise InvalidRequest(f"an Idempotency-Key is printable and has at most {MOST_KEY_CHARACTERS} characters")
    return key.strip()


def submitted(execution: Execution) -> wire.Submitted:
    created = moment_of(execution.created_ms)
    return wire.Submitted(
        execution_id=execution.id,
        session_id=execution.session,
        status=execution.state,
        created_at=created,
        submitted_at=created,
    )


def answer_of(execution: Execution, artifacts: Sequence[Artifact] = ()) -> wire.ExecutionResponse:
    created = moment_of(execution.created_ms)
    displays = value_of(execution.displays_json)
    return wire.ExecutionResponse(
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
        artifacts=[artifact_of(one) for one in artifacts],
        retry_count=execution.retries,
        created_at=created,
        submitted_at=created,
        started_at=time_of(execution.started_ms),
        completed_at=time_of(execution.completed_ms),
        return_value=value_of(execution.return_value_json),
        displays=displays if isinstance(displays, list) else [],
        metrics=metrics_of(execution.metering),
    )


def result_of(execution: Execution, artifacts: Sequence[Artifact]) -> wire.ExecutionResult:
    """Whatever has ended and was no success has failed, cancelled and crashed included."""
    return wire.ExecutionResult(
        execution_id=execution.id,
        session_id=execution.session,
        status=_RESULT_WORD.get(execution.state, "failed"),
        stdout=execution.stdout,
        stderr=execution.stderr,
        exit_code=_exit_code(execution),
        execution_time=execution_time(execution),
        return_value=value_of(execution.return_value_json),
        metrics=metrics_of(execution.metering),
        artifacts=[one.path for one in artifacts],
        error_message=execution.error or None,
        completed_at=time_of(execution.completed_ms),
    )


def status_of(execution: Execution) -> wire.ExecutionStatus:
    return wire.ExecutionStatus(
        execution_id=execution.id,
        session_id=execution.session,
        status=execution.state,
        created_at=moment_of(execution.created_ms),
        started_at=time_of(execution.started_ms),
        completed_at=time_of(execution.completed_ms),
        exit_code=_exit_code(execution),
        error_message=execution.error or None,
    )


def page_of(page: Page[Execution]) -> wire.ExecutionList:
    items = [answer_of(execution) for execution in page.items]
    more = page.offset + len(items) < page.total
    return wire.ExecutionList(
        items=items, executions=items, total=page.total, limit=page.limit, offset=page.offset, has_more=more
    )


def artifact_of(artifact: Artifact) -> wire.ArtifactResponse:
    return wire.ArtifactResponse(
        path=artifact.path,
        size=artifact.size_bytes,
        mime_type=artifact.content_type,
        type=artifact.kind,
        created_at=moment_of(artifact.created_ms),
        checksum=artifact.checksum or None,
    )


def metrics_of(metering: Metering | None) -> wire.Metrics | None:
    if metering is None:
        return None
    return wire.Metrics(
        duration_ms=metering.duration_ms,
        cpu_time_ms=metering.cpu_time_ms,
        peak_memory_mb=metering.peak_memory_mb,
        io_read_bytes=metering.io_read_bytes,
        io_write_bytes=metering.io_write_bytes,
    )


def execution_time(execution: Execution) -> float | None:
    """Seconds."""
    if execution.metering is not None:
        return round(execution.metering.duration_ms / 1000, 6)
    if execution.started_ms is None or execution.completed_ms is None:
        return None
    return (execution.completed_ms - execution.started_ms) / 1000


def value_of(text: str | None) -> Any:
    """JSON has no NaN and no infinity: null stands for them."""
    return None if text is None else json.loads(text, parse_constant=lambda _: None)


def context_of(view: ContextView) -> wire.ContextResponse:
    return wire.ContextResponse(
        id=view.id,
        context_id=view.id,
        session_id=view.session,
        language=view.language,
        created_at=moment_of(view.created_ms),
        executions=view.executions,
        busy=view.busy,
        alive=view.alive,
        can_be_copied=view.can_be_copied,
    )


def _exit_code(execution: Execution) -> int | None:
    return TIMED_OUT if execution.state is ExecutionState.timeout else execution.exit_code
