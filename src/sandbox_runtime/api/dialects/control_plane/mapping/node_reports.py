"""Convert the reports of nodes."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from sandbox_runtime.api.dialects.control_plane.mapping.times import to_ms
from sandbox_runtime.api.dialects.control_plane.schemas import node_reports as schemas
from sandbox_runtime.model import Artifact, ArtifactKind, Metering

_FOLDER_KINDS = {"output": ArtifactKind.output, "logs": ArtifactKind.log}


def to_execution_fields(report: schemas.ExecutionResultReport) -> dict[str, Any]:
    """Return the fields of the execution that the report sets."""
    metrics = report.metrics or schemas.ReportedMetrics(duration_ms=report.execution_time * 1000)
    return {
        "stdout": report.stdout,
        "stderr": report.stderr,
        "exit_code": report.exit_code,
        "return_value_json": json.dumps(report.return_value) if "return_value" in report.model_fields_set else None,
        "metering": Metering(**metrics.model_dump()),
        "error": report.error or "",
    }


def to_artifacts(
    execution_id: str, reported: Sequence[schemas.ReportedArtifact | str], now_ms: int, new_id: Callable[[], str]
) -> tuple[Artifact, ...]:
    """The kind of an artifact given as a path follows from its folder."""
    return tuple(_to_artifact(execution_id, _to_report(artifact), now_ms, new_id()) for artifact in reported)


def _to_report(artifact: schemas.ReportedArtifact | str) -> schemas.ReportedArtifact:
    if isinstance(artifact, schemas.ReportedArtifact):
        return artifact
    kind = _FOLDER_KINDS.get(artifact.partition("/")[0] if "/" in artifact else "", ArtifactKind.artifact)
    return schemas.ReportedArtifact(path=artifact, type=kind)


def _to_artifact(execution_id: str, report: schemas.ReportedArtifact, now_ms: int, artifact_id: str) -> Artifact:
    return Artifact(
        id=artifact_id,
        execution=execution_id,
        kind=report.type,
        path=report.path,
        location=report.download_url or "",
        size_bytes=report.size,
        content_type=report.mime_type,
        checksum=report.checksum or "",
        created_ms=to_ms(report.created_at) or now_ms,
    )
