from __future__ import annotations

import random
import statistics

import pytest

from sandbox_runtime.perf.statistics import Timing, percentile


def test_the_median_of_an_odd_number_of_values_is_the_one_in_the_middle() -> None:
    assert percentile([9.0, 1.0, 5.0], 0.5) == 5.0


def test_the_median_of_an_even_number_of_values_lies_between_the_two_in_the_middle() -> None:
    assert percentile([4.0, 1.0, 2.0, 9.0], 0.5) == 3.0


def test_the_ends_are_the_smallest_and_the_largest_value() -> None:
    assert (percentile([3.0, 7.0, 5.0], 0.0), percentile([3.0, 7.0, 5.0], 1.0)) == (3.0, 7.0)


def test_of_a_single_value_every_percentile_is_that_value() -> None:
    assert {percentile([2.5], share) for share in (0.0, 0.5, 0.99, 1.0)} == {2.5}


@pytest.mark.parametrize("count", [2, 3, 10, 99, 100, 101])
def test_percentiles_agree_with_the_standard_library(count: int) -> None:
    values = [random.Random(count).expovariate(1.0) for _ in range(count)]
    wanted = statistics.quantiles(values, n=100, method="inclusive")
    assert [percentile(values, number / 100) for number in range(1, 100)] == pytest.approx(wanted)


def test_no_values_have_no_percentile() -> None:
    with pytest.raises(ValueError, match="no values"):
        percentile([], 0.5)


@pytest.mark.parametrize("share", [-0.1, 1.1, 50, float("nan")])
def test_a_share_out_of_bounds_is_refused(share: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        percentile([1.0], share)


def test_what_is_told_of_a_timing_holds_every_figure_and_every_sample() -> None:
    data = Timing("bare", "python main.py", (0.03, 0.01, 0.02), per_s=50.0).to_json()
    assert data["title"] == "python main.py"
    assert (data["count"], data["p50_s"], data["min_s"], data["max_s"]) == (3, 0.02, 0.01, 0.03)
    assert data["mean_s"] == pytest.approx(0.02)
    assert data["p50_s"] <= data["p95_s"] <= data["p99_s"] <= data["max_s"]
    assert data["per_s"] == 50.0
    assert data["samples_s"] == [0.03, 0.01, 0.02]


def test_a_timing_with_pauses_in_it_tells_no_rate() -> None:
    assert Timing("warm", "engine", (0.001,)).to_json()["per_s"] is None
