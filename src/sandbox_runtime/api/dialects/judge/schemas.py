"""Bodies of the routes of batches."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class BatchRequest(BaseModel):
    """A whole batch in one JSON object. Send large batches as JSON lines instead."""

    model_config = ConfigDict(extra="forbid")

    dataset: str = Field(min_length=1, max_length=128, description="Id of a dataset, see /list_datasets.")
    config: dict[str, Any] = Field(
        default_factory=dict, description="Options for every completion, with the fields of /submit's config."
    )
    completions: list[dict[str, Any]] = Field(
        min_length=1, max_length=1_000_000, description="Objects with id, completion and optionally sample and config."
    )
    idempotency_key: str = Field(default="", max_length=128, description="Same as the header Idempotency-Key.")


class BatchResponse(BaseModel):
    id: str
    dataset: str
    status: str = Field(description="waiting, running, completed, cancelled or failed")
    total: int = Field(description="Number of completions in the batch.")
    judged: int = Field(description="Completions that have a result.")
    accepted: int
    not_judged: int = Field(description="Completions without a verdict, e.g. after a platform failure; never counted as wrong.")
    reasons: dict[str, int] = Field(description="Number of results by reason.")
    config: dict[str, Any]
    idempotency_key: str
    input_bytes: int
    message: str
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None


class BatchList(BaseModel):
    items: list[BatchResponse]
    total: int
    limit: int
    offset: int
    has_more: bool


class ScoreResponse(BaseModel):
    problems: int
    samples: int
    accepted: int
    pass_at: dict[str, float] = Field(description='"1" is pass@1. A k is missing if no problem has enough samples for it.')


class SummaryResponse(BaseModel):
    total: ScoreResponse
    groups: dict[str, dict[str, ScoreResponse]] = Field(
        description="Scores by language, difficulty and category, as far as the rows define them."
    )
    reasons: dict[str, int]
    not_judged: int
