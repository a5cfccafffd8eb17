"""Batches as clients see them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class BatchRequest(BaseModel):
    """A whole batch in one JSON object, for small ones: large ones are sent as JSON lines."""

    model_config = ConfigDict(extra="forbid")

    dataset: str = Field(min_length=1, max_length=128, description="Id of a dataset, see /list_datasets.")
    config: dict[str, Any] = Field(
        default_factory=dict, description="Options for every completion, in the words of /submit's config."
    )
    completions: list[dict[str, Any]] = Field(
        min_length=1, max_length=1_000_000, description="Objects with id, completion and, if wanted, sample and config."
    )
    idempotency_key: str = Field(default="", max_length=128, description="The same as the header Idempotency-Key.")


class BatchAnswer(BaseModel):
    id: str
    dataset: str
    status: str = Field(description="waiting, running, completed, cancelled or failed")
    total: int = Field(description="Completions that were sent.")
    judged: int = Field(description="Completions that have a result.")
    accepted: int
    not_judged: int = Field(description="Completions of which nothing can be said; never counted as wrong.")
    reasons: dict[str, int] = Field(description="Results by reason.")
    config: dict[str, Any]
    idempotency_key: str
    input_bytes: int
    message: str
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None


class BatchList(BaseModel):
    items: list[BatchAnswer]
    total: int
    limit: int
    offset: int
    has_more: bool


class ScoreAnswer(BaseModel):
    problems: int
    samples: int
    accepted: int
    pass_at: dict[str, float] = Field(description='"1" is pass@1; a k that no problem has enough samples for is missing.')


class SummaryAnswer(BaseModel):
    total: ScoreAnswer
    groups: dict[str, dict[str, ScoreAnswer]] = Field(description="By language, difficulty, category: as far as rows tell.")
    reasons: dict[str, int]
    not_judged: int
