"""Scores: pass@k against counting every choice, groups, and what was not judged."""

from __future__ import annotations

import itertools

import pytest

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.judge.metrics import Sample, groups_of, pass_at_k, summarize
from sandbox_runtime.model import Reason

YES, NO, UNKNOWN = Reason.accepted, Reason.wrong_answer, Reason.not_judged


@pytest.mark.parametrize(("samples", "accepted"), [(1, 0), (1, 1), (5, 0), (5, 2), (6, 5), (7, 7)])
def test_pass_at_k_is_the_share_of_choices_that_hold_an_accepted_one(samples: int, accepted: int) -> None:
    outcomes = [n < accepted for n in range(samples)]
    for k in range(1, samples + 1):
        choices = [any(choice) for choice in itertools.combinations(outcomes, k)]
        assert pass_at_k(samples, accepted, k) == pytest.approx(sum(choices) / len(choices))


@pytest.mark.parametrize("k", [0, -1, 3])
def test_a_k_that_cannot_be_drawn_is_refused(k: int) -> None:
    with pytest.raises(InvalidRequest):
        pass_at_k(2, 1, k)


def test_large_counts_neither_overflow_nor_take_long() -> None:
    assert 0.99 < pass_at_k(200_000, 1000, 1000) < 1


def test_scores_are_means_over_problems() -> None:
    samples = [Sample(1, YES), Sample(1, NO), Sample(2, NO), Sample(2, NO), Sample(3, YES)]
    total = summarize(samples, (1, 2, 5)).total
    assert (total.problems, total.samples, total.accepted) == (3, 5, 2)
    assert total.pass_at == {1: pytest.approx((0.5 + 0 + 1) / 3), 2: pytest.approx((1 + 0) / 2)}


def test_what_was_not_judged_is_counted_and_lowers_no_score() -> None:
    found = summarize([Sample(1, YES), Sample(1, UNKNOWN), Sample(2, UNKNOWN)])
    assert found.total.pass_at == {1: 1.0}
    assert (found.total.problems, found.not_judged, found.reasons) == (1, 2, {"accepted": 1, "not_judged": 2})


def test_nothing_at_all_has_no_score() -> None:
    assert summarize([]).total.pass_at == {}


def test_each_group_has_a_score_of_its_own() -> None:
    samples = [Sample(1, YES, {"language": "cpp"}), Sample(2, NO, {"language": "go", "difficulty": "hard"})]
    groups = summarize(samples).groups
    assert {kind: {value: score.pass_at[1] for value, score in values.items()} for kind, values in groups.items()} == {
        "difficulty": {"hard": 0.0},
        "language": {"cpp": 1.0, "go": 0.0},
    }


@pytest.mark.parametrize(
    ("row", "groups"),
    [
        ({"labels": '{"programming_language": "java", "category": "strings"}'}, {"language": "java", "category": "strings"}),
        ({"labels": {"difficulty_type": "Shortcut"}, "language": "cpp"}, {"language": "cpp", "difficulty": "Shortcut"}),
        ({"id": "EvoEval_tool_use_EvoEval_3", "labels": {}}, {"category": "tool_use"}),
        ({"labels": "no JSON"}, {}),
        ({"labels": None, "difficulty": 7}, {}),
    ],
)
def test_groups_are_read_from_rows_and_their_labels(row: dict[str, object], groups: dict[str, str]) -> None:
    assert groups_of(row) == groups


def test_the_language_that_was_asked_for_goes_before_that_of_the_row() -> None:
    assert groups_of({"language": "cpp"}, "python") == {"language": "python"}
