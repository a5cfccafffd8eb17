"""From single durations to the figures that are told. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

_DIGITS = 7
"""Tenths of a microsecond: finer than any clock here."""


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which this share (0 to 1) of them lies, on the straight line between the two nearest ones."""
    if not values:
        raise ValueError("no values, so no percentile")
    if not 0 <= share <= 1:
        raise ValueError(f"a share lies between 0 and 1, not {share!r}")
    ordered = sorted(values)
    position = (len(ordered) - 1) * share
    low = math.floor(position)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (position - low)


@dataclass(frozen=True, slots=True)
class Timing:
    """What one contender took. per_s is how many it got done in a second of doing nothing else; None where there were pauses."""

    name: str
    title: str
    samples_s: tuple[float, ...]
    per_s: float | None = None

    def at(self, share: float) -> float:
        return percentile(self.samples_s, share)

    @property
    def p50_s(self) -> float:
        return self.at(0.50)

    @property
    def mean_s(self) -> float:
        return math.fsum(self.samples_s) / len(self.samples_s)

    def to_json(self) -> dict[str, Any]:
        shares = {"p50_s": 0.50, "p95_s": 0.95, "p99_s": 0.99, "min_s": 0.0, "max_s": 1.0}
        return {
            "title": self.title,
            "count": len(self.samples_s),
            **{name: round(self.at(share), _DIGITS) for name, share in shares.items()},
            "mean_s": round(self.mean_s, _DIGITS),
            "per_s": None if self.per_s is None else round(self.per_s, 3),
            "samples_s": [round(sample, _DIGITS) for sample in self.samples_s],
        }
