"""The figures to reach, as data, and how each is judged. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from sandbox_runtime.perf.statistics import Timing


class TargetState(StrEnum):
    hope = "hope"
    bar = "bar"
    missed = "missed"
    unknown = "unknown"
    """Not measured here, or nothing was asked of it."""


class Kind(StrEnum):
    faster = "faster"
    """The baseline's p50 divided by ours."""
    more = "more"
    """Our runs per second divided by the baseline's."""
    bytes = "bytes"
    number = "number"
    share = "share"
    seconds = "seconds"
    """Our p50 itself."""
    times = "times"
    """How many times as much as in another case."""


@dataclass(frozen=True, slots=True)
class PerfTarget:
    """Of faster and more, bar and hope are ratios to reach; of the others, the most that it may be. None: told, not judged."""

    name: str
    title: str
    kind: Kind
    bar: float | None
    hope: float | None
    ours: str
    baseline: str = ""

    @property
    def is_ratio(self) -> bool:
        return self.kind in (Kind.faster, Kind.more)


MB = 1_000_000
AS_BY_HAND = 1 / 1.15
"""A box may cost 15 % of what the tools take by themselves."""
TARGETS = (
    PerfTarget("warm", "warm run in the engine", Kind.faster, 10, 30, "engine_warm", "bwrap"),
    PerfTarget("output", "the same, until its output is there", Kind.faster, None, None, "engine_output", "bwrap"),
    PerfTarget("http", "run over HTTP, one at a time", Kind.faster, 2, 5, "http", "bare"),
    PerfTarget("http_back_to_back", "run over HTTP, back to back", Kind.faster, 2, 5, "http_1", "bare_1"),
    PerfTarget("throughput", "HTTP throughput, 16 at once", Kind.more, 5, 10, "http_16", "bwrap_cores"),
    PerfTarget("data", "importing numpy and pandas, data preset", Kind.faster, 40, 150, "data_warm", "data_bare"),
    PerfTarget("cpp", "C++ with <bits/stdc++.h>, first compile", Kind.faster, 3, 5, "cpp_first", "cpp_by_hand"),
    PerfTarget("cpp_again", "the same source again, over HTTP", Kind.faster, 30, 100, "cpp_again_http", "cpp_by_hand"),
    PerfTarget("java", "Java, compiled and run", Kind.faster, AS_BY_HAND, 1, "java_first", "java_by_hand"),
    PerfTarget("go", "Go, compiled and run", Kind.faster, AS_BY_HAND, 1, "go_first", "go_by_hand"),
    PerfTarget("nodejs", "JavaScript", Kind.faster, AS_BY_HAND, 1, "nodejs_first", "nodejs_by_hand"),
    PerfTarget("notebook", "notebook of one cell over HTTP", Kind.faster, 15, 50, "notebook_http", "kernel_cold"),
    PerfTarget("notebook_back_to_back", "the same, back to back", Kind.faster, None, None, "notebook_1", "kernel_cold"),
    PerfTarget("session_first", "a new session and its first result", Kind.faster, 1, 3, "session_first", "session_bare"),
    PerfTarget("session_cell", "the next cell in a live context", Kind.seconds, 0.005, 0.002, "session_cell"),
    PerfTarget("session_fork", "a fork of a live session with pandas", Kind.seconds, 0.030, 0.010, "session_fork"),
    PerfTarget("session_memory", "memory of an idle session", Kind.bytes, 8 * MB, 4 * MB, "session_bytes"),
    PerfTarget("session_crowd", "an execution beside many idle sessions", Kind.times, 1.3, 1.0, "session_slower"),
    PerfTarget("kill_lost", "killed under load: acknowledged results lost", Kind.number, 0, 0, "kill_lost"),
    PerfTarget("kill_left", "killed under load: processes, mounts, cgroups left", Kind.number, 0, 0, "kill_left"),
    PerfTarget("mcp_run", "run_python over MCP, official client, stdio", Kind.seconds, 0.010, 0.004, "mcp_run"),
    PerfTarget("mcp_create", "create_sandbox over MCP", Kind.seconds, 0.020, 0.005, "mcp_create"),
    PerfTarget("judge_python", "164 Python problems judged", Kind.faster, 3, 8, "judge_python", "python_by_hand"),
    PerfTarget(
        "judge_split",
        "the same, against tests in the solution's process",
        Kind.faster,
        1 / 1.5,
        1,
        "judge_python",
        "judge_shared",
    ),
    PerfTarget("judge_cases", "a C++ problem with 50 cases judged", Kind.faster, 20, 40, "judge_cases", "cases_by_hand"),
    PerfTarget("judge_faults", "sabotaged: completions scored for faults of ours", Kind.number, 0, 0, "judge_wrong"),
    PerfTarget("memory", "memory of an idle box", Kind.bytes, 4 * MB, 1.5 * MB, "box_pss_bytes"),
    PerfTarget("crowd_errors", "a crowd of clients: errors", Kind.number, 0, 0, "crowd_errors"),
    PerfTarget("crowd_hung", "a crowd of clients: hung requests", Kind.number, 0, 0, "crowd_hung"),
    PerfTarget("crowd_blame", "a crowd of clients: wrong blame", Kind.number, 0, 0, "crowd_blame"),
    PerfTarget("leftovers", "left over after many rough runs", Kind.number, 0, 0, "leftovers"),
    PerfTarget("growth", "growth of the server over those", Kind.share, 0.05, 0.005, "growth"),
)
PEER_TARGETS = (
    PerfTarget("peer", "run over HTTP, back to back, against the peer", Kind.faster, None, None, "http_1", "peer_1"),
    PerfTarget("peer_throughput", "HTTP throughput, 16 at once, against the peer", Kind.more, None, None, "http_16", "peer_16"),
)


@dataclass(frozen=True, slots=True)
class TargetResult:
    goal: PerfTarget
    value: float | None
    met: TargetState


def judge(
    timings: Mapping[str, Timing], values: Mapping[str, float], goals: tuple[PerfTarget, ...] = TARGETS
) -> list[TargetResult]:
    found = [(goal, _value(goal, timings, values)) for goal in goals]
    return [TargetResult(goal, value, _met(goal, value)) for goal, value in found]


def _value(goal: PerfTarget, timings: Mapping[str, Timing], values: Mapping[str, float]) -> float | None:
    if goal.kind is Kind.seconds:
        return timings[goal.ours].p50_s if goal.ours in timings else None
    if not goal.is_ratio:
        return values.get(goal.ours)
    ours, baseline = timings.get(goal.ours), timings.get(goal.baseline)
    if ours is None or baseline is None:
        return None
    if goal.kind is Kind.faster:
        return baseline.p50_s / ours.p50_s
    return ours.per_s / baseline.per_s if ours.per_s and baseline.per_s else None


def _met(goal: PerfTarget, value: float | None) -> TargetState:
    if value is None or goal.bar is None or goal.hope is None:
        return TargetState.unknown
    sense = 1 if goal.is_ratio else -1
    if value * sense >= goal.hope * sense:
        return TargetState.hope
    return TargetState.bar if value * sense >= goal.bar * sense else TargetState.missed
