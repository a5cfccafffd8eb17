"""The knobs of judging."""

from __future__ import annotations

from dataclasses import dataclass

from sandbox_runtime.settings.setting import setting


@dataclass(frozen=True, kw_only=True)
class JudgeSettings:
    judge_parallel: int = setting(
        4,
        "cases",
        "Cases of one completion that run at once where there are free places. `dataset.max_runner_concurrency` of a "
        "configuration file goes before it.",
        "judge",
        low=1,
        high=1000,
    )
    judge_attempts: int = setting(
        5, "times", "How often a step that failed through a fault of this platform is tried in all.", "judge", low=1, high=100
    )
    judge_retry_first_s: float = setting(
        0.1, "seconds", "Wait before the second of these; each further one waits twice as long.", "judge", low=0, high=60
    )
    max_completion_bytes: int = setting(
        1024**2,
        "bytes",
        "Longest completion that is judged. Reading one takes processor time in proportion to its length.",
        "judge",
        low=1024,
        high=1024**3,
    )
    judge_warm: bool = setting(
        True,
        "yes or no",
        "Run graded Python programs in an interpreter of their own that has numpy and the like loaded; it is started with the "
        "first of them.",
        "judge",
    )
