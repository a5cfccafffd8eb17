"""Scores of many verdicts: pass@k by the unbiased estimator, over all problems and by group.

Contract: pure. Completions that were not judged are counted separately and never lower a score.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.judge.rows.values import json_column
from sandbox_runtime.model import Reason, Row

_GROUP_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "language": ("language", "programming_language", "prompt_language"),
    "difficulty": ("difficulty", "difficulty_type"),
    "category": ("category", "task_type", "type"),
}
"""Group → columns that may hold it, in the row or in its labels. The first that exists counts."""
_EVOEVAL = "EvoEval_"


@dataclass(frozen=True, slots=True)
class Sample:
    """The part of a verdict that scores need."""

    id: int | str
    reason: Reason
    groups: Mapping[str, str] = field(default_factory=dict)
    """Kind of group ("language") → value ("cpp")."""


@dataclass(frozen=True, slots=True)
class Score:
    problems: int
    samples: int
    accepted: int
    pass_at: Mapping[int, float]
    """k → mean over problems. A k for which no problem has enough samples is missing."""


@dataclass(frozen=True, slots=True)
class Summary:
    total: Score
    groups: Mapping[str, Mapping[str, Score]]
    reasons: Mapping[str, int]
    not_judged: int


def pass_at_k(samples: int, accepted: int, k: int) -> float:
    """Return the probability that at least one of k samples, drawn without replacement, is accepted: 1 - C(n-c, k) / C(n, k)."""
    if not 1 <= k <= samples:
        raise InvalidRequest(f"pass@{k} needs at least {max(k, 1)} samples per problem, not {samples}")
    if samples - accepted < k:
        return 1.0
    return 1.0 - math.prod((samples - accepted - i) / (samples - i) for i in range(k))


def summarize(samples: Iterable[Sample], ks: Sequence[int] = (1,)) -> Summary:
    all_samples = list(samples)
    reasons: dict[str, int] = defaultdict(int)
    grouped: dict[str, dict[str, list[Sample]]] = defaultdict(lambda: defaultdict(list))
    for sample in all_samples:
        reasons[sample.reason] += 1
        for kind, value in sample.groups.items():
            grouped[kind][value].append(sample)
    groups = {
        kind: {value: _score(members, ks) for value, members in sorted(values.items())}
        for kind, values in sorted(grouped.items())
    }
    return Summary(_score(all_samples, ks), groups, dict(reasons), reasons[Reason.not_judged])


def _score(samples: Iterable[Sample], ks: Sequence[int]) -> Score:
    counts: dict[int | str, list[int]] = {}
    for sample in samples:
        if sample.reason is not Reason.not_judged:
            count = counts.setdefault(sample.id, [0, 0])
            count[0] += 1
            count[1] += sample.reason is Reason.accepted
    means = {}
    for k in ks:
        values = [pass_at_k(n, c, k) for n, c in counts.values() if n >= k]
        if values:
            means[k] = sum(values) / len(values)
    return Score(len(counts), sum(n for n, _ in counts.values()), sum(c for _, c in counts.values()), means)


def groups_of(row: Row, language: str | None = None) -> dict[str, str]:
    """Return the groups that the row belongs to. language: the requested one, if any."""
    sources = (row, _labels(row))
    groups = {"language": language} if language else {}
    for kind, columns in _GROUP_COLUMNS.items():
        values = (source.get(column) for column in columns for source in sources)
        value = next((value for value in values if isinstance(value, str) and value), None)
        if value:
            groups.setdefault(kind, value[:80])
    return groups | _evoeval_category(row)


def _labels(row: Row) -> Mapping[str, object]:
    try:
        labels = json_column(row, "labels")
    except InvalidRequest:
        return {}
    return labels if isinstance(labels, Mapping) else {}


def _evoeval_category(row: Row) -> dict[str, str]:
    """Read the category from the middle of an EvoEval id."""
    name = str(row.get("id", ""))
    if not name.startswith(_EVOEVAL):
        return {}
    return {"category": name.removeprefix(_EVOEVAL).partition("_EvoEval")[0]}
