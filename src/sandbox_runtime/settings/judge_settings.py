"""Settings of the judge."""

from __future__ import annotations

from dataclasses import dataclass

from sandbox_runtime.settings.setting import setting


@dataclass(frozen=True, kw_only=True)
class JudgeSettings:
    judge_parallel: int = setting(
        4,
        "cases",
        "Test cases of one completion that run concurrently if slots are free. `dataset.max_runner_concurrency` of a "
        "configuration file takes precedence.",
        "judge",
        low=1,
        high=1000,
    )
    judge_attempts: int = setting(
        5, "times", "How often a step is tried in total if this platform fails.", "judge", low=1, high=100
    )
    judge_retry_first_s: float = setting(
        0.1, "seconds", "Delay before the first retry. Each further delay is twice as long.", "judge", low=0, high=60
    )
    max_completion_bytes: int = setting(
        1024**2,
        "bytes",
        "Maximum size of a completion. Parsing takes processor time in proportion to the size.",
        "judge",
        low=1024,
        high=1024**3,
    )
    judge_warm: bool = setting(
        True,
        "yes or no",
        "Run graded Python programs in a separate interpreter that has numpy and similar modules loaded. It starts with "
        "the first program.",
        "judge",
    )
