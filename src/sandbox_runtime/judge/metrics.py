"""Scores of many verdicts: pass@k by the unbiased estimator, over all problems and by group.

Contract: pure. What was not judged is no sample at all: it is counted, and never lowers a score.
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
"""Group → where rows have it, at the top or among their labels; the first that is there counts."""
_EVOEVAL = "EvoEval_"


@dataclass(frozen=True, slots=True)
class Sample:
    """One verdict, as far as scores need it. groups: kind ("language") → its value ("cpp")."""

    id: int | str
    reason: Reason
    groups: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Score:
    """pass_at: k → the mean over problems; a k that no problem has enough samples for is missing."""

    problems: int
    samples: int
    accepted: int
    pass_at: Mapping[int, float]


@dataclass(frozen=True, slots=True)
class Summary:
    total: Score
    groups: Mapping[str, Mapping[str, Score]]
    reasons: Mapping[str, int]
    not_judged: int


def pass_at_k(samples: int, accepted: int, k: int) -> float:
    """The chance that at least one of k samples, drawn without putting back, is among the accepted: 1 - C(n-c, k) / C(n, k)."""
    if not 1 <= k <= samples:
        raise InvalidRequest(f"pass@{k} needs at least {max(k, 1)} samples of a problem, there are {samples}")
    if samples - accepted < k:
        return 1.0
    return 1.0 - math.prod((samples - accepted - i) / (samples - i) for i in range(k))


def summarize(samples: Iterable[Sample], ks: Sequence[int] = (1,)) -> Summary:
    kept = list(samples)
    reasons: dict[str, int] = defaultdict(int)
    grouped: dict[str, dict[str, list[Sample]]] = defaultdict(lambda: defaultdict(list))
    for sample in kept:
        reasons[sample.reason] += 1
        for kind, value in sample.groups.items():
            grouped[kind][value].append(sample)
    groups = {
        kind: {value: _score(found, ks) for value, found in sorted(values.items())} for kind, values in sorted(grouped.items())
    }
    return Summary(_score(kept, ks), groups, dict(reasons), reasons[Reason.not_judged])


def _score(samples: Iterable[Sample], ks: Sequence[int]) -> Score:
    counts: dict[int | str, list[int]] = {}
    for sample in samples:
        if sample.reason is not Reason.not_judged:
            count = counts.setdefault(sample.id, [0, 0])
            count[0] += 1
            count[1] += sample.reason is Reason.accepted
    means = {}
    for k in ks:
        found = [pass_at_k(n, c, k) for n, c in counts.values() if n >= k]
        if found:
            means[k] = sum(found) / len(found)
    return Score(len(counts), sum(n for n, _ in counts.values()), sum(c for _, c in counts.values()), means)


def groups_of(row: Row, language: str | None = None) -> dict[str, str]:
    """By which a problem's verdicts can be told apart, as far as its row says so. language: the one that was asked for."""
    places = (row, _labels(row))
    found = {"language": language} if language else {}
    for kind, columns in _GROUP_COLUMNS.items():
        values = (place.get(column) for column in columns for place in places)
        value = next((one for one in values if isinstance(one, str) and one), None)
        if value:
            found.setdefault(kind, value[:80])
    return found | _evoeval_category(row)


def _labels(row: Row) -> Mapping[str, object]:
    try:
        found = json_column(row, "labels")
    except InvalidRequest:
        return {}
    return found if isinstance(found, Mapping) else {}


def _evoeval_category(row: Row) -> dict[str, str]:
    """EvoEval has it in the middle of its ids."""
    name = str(row.get("id", ""))
    if not name.startswith(_EVOEVAL):
        return {}
    return {"category": name.removeprefix(_EVOEVAL).partition("_EvoEval")[0]}
