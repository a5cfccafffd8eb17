"""Between batches and their schemas. Pure."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sandbox_runtime.api.dialects.judge.schemas import BatchAnswer, ScoreAnswer, SummaryAnswer
from sandbox_runtime.judge.metrics import Score, Summary
from sandbox_runtime.model import Batch


def batch_answer(batch: Batch, config: dict[str, Any]) -> BatchAnswer:
    return BatchAnswer(
        id=batch.id,
        dataset=batch.dataset,
        status=batch.state.value,
        total=batch.total,
        judged=batch.judged,
        accepted=batch.accepted,
        not_judged=batch.not_judged,
        reasons=dict(batch.reasons),
        config=config,
        idempotency_key=batch.key,
        input_bytes=batch.input_bytes,
        message=batch.message,
        created_at=_time(batch.created_ms),
        started_at=_time(batch.started_ms) if batch.started_ms else None,
        ended_at=_time(batch.ended_ms) if batch.ended_ms else None,
    )


def summary_answer(summary: Summary) -> SummaryAnswer:
    groups = {kind: {name: _score(one) for name, one in values.items()} for kind, values in summary.groups.items()}
    return SummaryAnswer(total=_score(summary.total), groups=groups, reasons=dict(summary.reasons), not_judged=summary.not_judged)


def _score(score: Score) -> ScoreAnswer:
    pass_at = {str(k): value for k, value in score.pass_at.items()}
    return ScoreAnswer(problems=score.problems, samples=score.samples, accepted=score.accepted, pass_at=pass_at)


def _time(at_ms: int) -> datetime:
    return datetime.fromtimestamp(at_ms / 1000, UTC)
