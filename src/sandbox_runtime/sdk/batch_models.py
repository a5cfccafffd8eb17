"""Batches of completions, as the server tells of them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict


class BatchStatus(BaseModel):
    """status: waiting, running, completed, cancelled or failed. not_judged: completions of which nothing can be said."""

    model_config = ConfigDict(extra="ignore")

    id: str
    dataset: str
    status: str
    total: int
    judged: int
    accepted: int
    not_judged: int
    reasons: dict[str, int] = {}
    message: str = ""
    created_at: datetime
    started_at: datetime | None = None
    ended_at: datetime | None = None

    @property
    def ended(self) -> bool:
        return self.status in ("completed", "cancelled", "failed")


class BatchScore(BaseModel):
    problems: int
    samples: int
    accepted: int
    pass_at: dict[int, float]


class BatchSummary(BaseModel):
    total: BatchScore
    groups: dict[str, dict[str, BatchScore]]
    reasons: dict[str, int]
    not_judged: int


class LineParser:
    """JSON lines out of pieces that are cut anywhere. taken: bytes of whole lines that were handed out."""

    def __init__(self) -> None:
        self._rest = b""
        self.consumed = 0

    def take(self, piece: bytes) -> list[bytes]:
        *whole, self._rest = (self._rest + piece).split(b"\n")
        self.consumed += sum(len(line) + 1 for line in whole)
        return [line for line in whole if line.strip()]


BatchResult = dict[str, Any]
"""One line of results: index, id, accepted, reason, blame and more."""
