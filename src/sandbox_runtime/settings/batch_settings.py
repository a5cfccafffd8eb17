"""The knobs of batches: completions by the million."""

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
        "Completions of all batches together that are judged at once; single submissions do not wait for them.",
        "judge",
        low=1,
        high=10_000,
        default_text="twice the number of cores",
    )
    batch_max_bytes: int = setting(4 * GIB, "bytes", "Largest batch in one upload.", "judge", low=1024, high=1024 * GIB)
    batch_max_line_bytes: int = setting(
        16 * MIB, "bytes", "Longest line of a batch: one completion with its options.", "judge", low=1024, high=GIB
    )
    batch_max_per_owner: int = setting(100, "batches", "Batches of one owner that wait or run.", "judge", low=1, high=100_000)
    batch_max_owner_bytes: int = setting(
        16 * GIB,
        "bytes",
        "What the batches of one owner may hold: completions of those that wait or run, results of all.",
        "judge",
        low=1024,
        high=1024 * GIB,
    )
    batch_keep_s: float = setting(
        7 * 86_400.0,
        "seconds",
        "How long a batch that has ended is kept, with its results.",
        "judge",
        low=60,
        high=10 * 365 * 86_400,
    )
