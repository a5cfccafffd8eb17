"""Many completions of one dataset, judged as one piece of work that outlives connections and restarts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.model import bounds

_NO_REASONS: Mapping[str, int] = MappingProxyType({})


class BatchState(StrEnum):
    waiting = "waiting"
    running = "running"
    completed = "completed"
    cancelled = "cancelled"
    failed = "failed"
    """What was sent is lost: its files are gone. Nothing else makes a batch fail."""


ENDED_BATCH_STATES = (BatchState.completed, BatchState.cancelled, BatchState.failed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """total: completions that were sent; judged: those with a result; accepted and not_judged: of those. reasons: results by
    reason. config_json: the options that hold for every completion, as they were sent."""

    id: str
    owner: str = ""
    dataset: str
    state: BatchState = BatchState.waiting
    config_json: str | None = None
    key: str = ""
    """The caller's own name for this piece of work: sending it again finds the batch that exists."""
    total: int = 0
    judged: int = 0
    accepted: int = 0
    not_judged: int = 0
    reasons: Mapping[str, int] = field(default_factory=lambda: _NO_REASONS)
    input_bytes: int = 0
    message: str = ""
    created_ms: int
    updated_ms: int = 0
    started_ms: int | None = None
    ended_ms: int | None = None
    version: int = 0

    def __post_init__(self) -> None:
        bounds.check_id(self.id, "a batch's id", bounds.SHORT_ID_CHARACTERS)
        bounds.check_id(self.dataset, "a dataset", 128)
        if self.key:
            bounds.check_id(self.key, "an idempotency key", 128)
        if not 0 <= self.accepted + self.not_judged <= self.judged <= self.total:
            raise InvalidRequest("a batch cannot have more results than completions")

    @property
    def ended(self) -> bool:
        return self.state in ENDED_BATCH_STATES
