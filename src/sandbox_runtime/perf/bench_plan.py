"""How much is measured: which sections, how often, for how long."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sandbox_runtime.errors import InvalidRequest

SECTIONS = (
    "memory", "single", "load", "data", "compiles", "notebook", "sessions", "mcp", "judge", "judge-faults", "crowd", "soak",
)  # fmt: skip
TITLES = {
    "memory": "memory of idle boxes",
    "single": "single runs",
    "load": "runs under load",
    "data": "runs that import numpy and pandas",
    "compiles": "programs that are compiled",
    "notebook": "notebooks",
    "sessions": "sessions",
    "mcp": "tools over MCP",
    "judge": "judged completions",
    "judge-faults": "completions judged while the platform is sabotaged",
    "crowd": "a crowd of clients",
    "soak": "leftovers and growth after many runs",
}


@dataclass(frozen=True, slots=True)
class BenchPlan:
    rounds: int = 80
    """Turns that each contender of the single runs gets."""
    warmup_rounds: int = 3
    windows: int = 3
    window_s: float = 1.5
    """Each load has so many windows of so many seconds."""
    window_warmup_s: float = 0.5
    data_rounds: int = 5
    compile_rounds: int = 8
    notebook_rounds: int = 8
    session_rounds: int = 20
    idle_sessions: int = 1000
    kills: int = 50
    """Times that a server under load is killed."""
    judge_rounds: int = 3
    judge_problems: int = 164
    cases_by_hand: int = 50
    sabotaged_runs: int = 1000
    crowd_clients: int = 256
    crowd_s: float = 60.0
    soak_runs: int = 500
    sections: tuple[str, ...] = SECTIONS

    def adjusted(self, *, rounds: int | None, seconds: float | None, soak_runs: int | None, only: Sequence[str]) -> BenchPlan:
        """This effort with what a caller wants otherwise; None and an empty list leave it as it is."""
        for name in only:
            if name not in SECTIONS:
                raise InvalidRequest(f"{name!r} is nothing that is measured; there are {', '.join(SECTIONS)}")
        changed: dict[str, Any] = {}
        if rounds is not None:
            changed["rounds"] = int(_checked("runs", rounds, 1))
        if seconds is not None:
            changed["window_s"] = _checked("seconds", seconds, 0.1) / self.windows
            changed["crowd_s"] = seconds
        if soak_runs is not None:
            changed["soak_runs"] = int(_checked("soak", soak_runs, 1))
        if only:
            changed["sections"] = tuple(name for name in SECTIONS if name in only)
        return dataclasses.replace(self, **changed)


FULL = BenchPlan()
QUICK = BenchPlan(
    rounds=12,
    warmup_rounds=1,
    windows=1,
    window_s=1.0,
    window_warmup_s=0.3,
    data_rounds=2,
    compile_rounds=2,
    notebook_rounds=3,
    session_rounds=3,
    idle_sessions=50,
    kills=2,
    judge_rounds=1,
    judge_problems=20,
    cases_by_hand=3,
    sabotaged_runs=40,
    crowd_s=3.0,
    soak_runs=45,
)


def _checked(name: str, value: float, least: float) -> float:
    if not value >= least:
        raise InvalidRequest(f"--{name} must be at least {least:g}, not {value:g}")
    return value
