"""Map batches and summaries to response bodies. Pure."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from sandbox_runtime.api.dialects.judge.schemas import BatchResponse, ScoreResponse, SummaryResponse
from sandbox_runtime.judge.metrics import Score, Summary
from sandbox_runtime.model import Batch


def to_batch_response(batch: Batch) -> BatchResponse:
    return BatchResponse(
        id=batch.id,
        dataset=batch.dataset,
        status=batch.state.value,
        total=batch.total,
        judged=batch.judged,
        accepted=batch.accepted,
        not_judged=batch.not_judged,
        reasons=dict(batch.reasons),
        config=json.loads(batch.config_json or "{}"),
        idempotency_key=batch.key,
        input_bytes=batch.input_bytes,
        message=batch.message,
        created_at=_to_time(batch.created_ms),
        started_at=_to_time(batch.started_ms) if batch.started_ms else None,
        ended_at=_to_time(batch.ended_ms) if batch.ended_ms else None,
    )


def to_summary_response(summary: Summary) -> SummaryResponse:
    groups = {kind: {name: _to_score(score) for name, score in scores.items()} for kind, scores in summary.groups.items()}
    return SummaryResponse(
        total=_to_score(summary.total), groups=groups, reasons=dict(summary.reasons), not_judged=summary.not_judged
    )


def _to_score(score: Score) -> ScoreResponse:
    pass_at = {str(k): value for k, value in score.pass_at.items()}
    return ScoreResponse(problems=score.problems, samples=score.samples, accepted=score.accepted, pass_at=pass_at)


def _to_time(at_ms: int) -> datetime:
    return datetime.fromtimestamp(at_ms / 1000, UTC)
