"""What nodes report, forwards."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from sandbox_runtime.api.dialects.control_plane.quantities import ms_of
from sandbox_runtime.api.dialects.control_plane.schemas import internal as wire
from sandbox_runtime.model import Artifact, ArtifactKind, Metering

_KIND_OF_FOLDER = {"output": ArtifactKind.output, "logs": ArtifactKind.log}


def fields_of(told: wire.ExecutionResultReport) -> dict[str, Any]:
    """Of an execution. What the report leaves out stays as it is."""
    metrics = told.metrics or wire.ReportedMetrics(duration_ms=told.execution_time * 1000)
    return {
        "stdout": told.stdout,
        "stderr": told.stderr,
        "exit_code": told.exit_code,
        "return_value_json": json.dumps(told.return_value) if "return_value" in told.model_fields_set else None,
        "metering": Metering(**metrics.model_dump()),
        "error": told.error or "",
    }


def artifacts_of(
    execution_id: str, told: Sequence[wire.ReportedArtifact | str], now_ms: int, new_id: Callable[[], str]
) -> tuple[Artifact, ...]:
    """A bare path tells by its folder what it is."""
    return tuple(_artifact(execution_id, _whole(one), now_ms, new_id()) for one in told)


def _whole(told: wire.ReportedArtifact | str) -> wire.ReportedArtifact:
    if isinstance(told, wire.ReportedArtifact):
        return told
    kind = _KIND_OF_FOLDER.get(told.partition("/")[0] if "/" in told else "", ArtifactKind.artifact)
    return wire.ReportedArtifact(path=told, type=kind)


def _artifact(execution_id: str, told: wire.ReportedArtifact, now_ms: int, artifact_id: str) -> Artifact:
    return Artifact(
        id=artifact_id,
        execution=execution_id,
        kind=told.type,
        path=told.path,
        location=told.download_url or "",
        size_bytes=told.size,
        content_type=told.mime_type,
        checksum=told.checksum or "",
        created_ms=ms_of(told.created_at) or now_ms,
    )
