"""Settings of judge batches."""

from __future__ import annotations

import os
from dataclasses import dataclass

from sandbox_runtime.settings.setting import setting

MIB, GIB = 1024**2, 1024**3


def _parallel() -> int:
    return 2 * (os.cpu_count() or 1)


@dataclass(frozen=True, kw_only=True)
class BatchSettings:
    batch_parallel: int = setting(
        _parallel,
        "completions",
        "Completions of all batches together that are judged concurrently. Single submissions do not wait for them.",
        "judge",
        low=1,
        high=10_000,
        default_text="twice the number of cores",
    )
    batch_max_bytes: int = setting(4 * GIB, "bytes", "Maximum size of one uploaded batch.", "judge", low=1024, high=1024 * GIB)
    batch_max_line_bytes: int = setting(
        16 * MIB, "bytes", "Maximum length of one line of a batch: a completion with its options.", "judge", low=1024, high=GIB
    )
    batch_max_per_owner: int = setting(
        100, "batches", "Maximum number of batches of one owner that wait or run.", "judge", low=1, high=100_000
    )
    batch_max_owner_bytes: int = setting(
        16 * GIB,
        "bytes",
        "Maximum size of all batches of one owner: completions of those that wait or run, and results of all.",
        "judge",
        low=1024,
        high=1024 * GIB,
    )
    batch_keep_s: float = setting(
        7 * 86_400.0,
        "seconds",
        "How long a finished batch and its results are kept.",
        "judge",
        low=60,
        high=10 * 365 * 86_400,
    )
