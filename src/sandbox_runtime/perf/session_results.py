"""What was found out about sessions beside how long they take."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sandbox_runtime.perf.crash import CrashResult


@dataclass(frozen=True, slots=True)
class IdleSessionsResult:
    """What many idle sessions weigh, and what they do to an execution in one more."""

    sessions: int
    each_bytes: float
    few_p50_s: float
    many_p50_s: float

    @property
    def slower(self) -> float:
        return self.many_p50_s / self.few_p50_s

    def to_json(self) -> dict[str, Any]:
        return {**dataclasses.asdict(self), "slower": self.slower}


@dataclass(frozen=True, slots=True)
class SessionResults:
    crowded: IdleSessionsResult
    killed: CrashResult

    def values(self) -> dict[str, float]:
        killed = self.killed
        return {
            "session_bytes": self.crowded.each_bytes,
            "session_slower": self.crowded.slower,
            "kill_lost": killed.lost + killed.wrong + killed.forgotten + killed.untrue,
            "kill_left": sum(killed.left.values()),
        }

    def to_json(self) -> dict[str, Any]:
        return {"crowded": self.crowded.to_json(), "killed": self.killed.to_json()}
