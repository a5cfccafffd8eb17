"""Models of judge batches."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict


class BatchStatus(BaseModel):
    model_config = ConfigDict(extra="ignore")

    id: str
    dataset: str
    status: str
    """waiting, running, completed, cancelled or failed."""
    total: int
    judged: int
    accepted: int
    not_judged: int
    """Completions that could not be judged."""
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
    """Splits a byte stream into lines. `consumed`: bytes of the complete lines returned so far."""

    def __init__(self) -> None:
        self._rest = b""
        self.consumed = 0

    def take(self, piece: bytes) -> list[bytes]:
        *whole, self._rest = (self._rest + piece).split(b"\n")
        self.consumed += sum(len(line) + 1 for line in whole)
        return [line for line in whole if line.strip()]


BatchResult = dict[str, Any]
"""A result line: index, id, accepted, reason, blame and more."""
