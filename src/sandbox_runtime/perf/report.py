"""All that was found in one run, and its JSON form."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sandbox_runtime.perf.bench_plan import SECTIONS
from sandbox_runtime.perf.fault_results import FaultResults
from sandbox_runtime.perf.memory import BoxMemory
from sandbox_runtime.perf.overload import OverloadResult
from sandbox_runtime.perf.rounds import Timings
from sandbox_runtime.perf.session_results import SessionResults
from sandbox_runtime.perf.soak import SoakResult
from sandbox_runtime.perf.statistics import Timing
from sandbox_runtime.perf.targets import PEER_TARGETS, TARGETS, TargetResult, judge

SCHEMA = 1


@dataclass(slots=True)
class Report:
    version: str
    started_at: str
    machine: dict[str, Any]
    effort: dict[str, Any]
    took_s: float = 0.0
    timings: dict[str, Timing] = field(default_factory=dict)
    memory: list[BoxMemory] = field(default_factory=list)
    crowd: OverloadResult | None = None
    soaked: SoakResult | None = None
    sessions: SessionResults | None = None
    judge_faults: FaultResults | None = None
    skipped: dict[str, str] = field(default_factory=dict)
    """What cannot be measured here → why."""
    failed: dict[str, str] = field(default_factory=dict)
    """What broke while it was measured → how."""

    @property
    def partial(self) -> bool:
        """Whether only some of the sections were asked for."""
        return set(self.effort["sections"]) != set(SECTIONS)

    def add(self, standings: Timings) -> None:
        self.timings |= standings.timings
        self.failed |= standings.failed

    def judged(self) -> list[TargetResult]:
        """The goals, and, where there was a peer, how we stand against it."""
        goals = TARGETS + tuple(goal for goal in PEER_TARGETS if goal.baseline in self.timings)
        return judge(self.timings, self._values(), goals)

    def _values(self) -> dict[str, float]:
        values: dict[str, float] = {}
        if self.memory:
            values["box_pss_bytes"] = max(self.memory, key=lambda one: one.boxes).pss_bytes
        if self.crowd:
            found = self.crowd
            values |= {"crowd_errors": found.errors, "crowd_hung": found.hung, "crowd_blame": found.wrong_blame}
        if self.soaked:
            values["leftovers"] = self.soaked.leftovers.total
            if self.soaked.growth is not None:
                values["growth"] = max(0.0, self.soaked.growth)
        if self.judge_faults:
            values["judge_wrong"] = self.judge_faults.wrong
        if self.sessions:
            values |= self.sessions.values()
        return values

    def to_json(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "version": self.version,
            "started_at": self.started_at,
            "took_s": round(self.took_s, 1),
            "machine": self.machine,
            "effort": self.effort,
            "goals": [_judged(one) for one in self.judged()],
            "timings": {name: timing.to_json() for name, timing in self.timings.items()},
            "memory": [one.to_json() for one in self.memory],
            "crowd": None if self.crowd is None else self.crowd.to_json(),
            "soak": None if self.soaked is None else self.soaked.to_json(),
            "sessions": None if self.sessions is None else self.sessions.to_json(),
            "judge_faults": None if self.judge_faults is None else self.judge_faults.to_json(),
            "skipped": self.skipped,
            "failed": self.failed,
        }


def _judged(one: TargetResult) -> dict[str, Any]:
    goal = one.goal
    return {
        "name": goal.name,
        "title": goal.title,
        "kind": goal.kind.value,
        "ours": goal.ours,
        "baseline": goal.baseline or None,
        "value": one.value,
        "bar": goal.bar,
        "hope": goal.hope,
        "met": one.met.value,
    }
