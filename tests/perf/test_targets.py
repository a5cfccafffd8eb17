from __future__ import annotations

import pytest

from sandbox_runtime.perf.statistics import Timing
from sandbox_runtime.perf.targets import TARGETS, Kind, PerfTarget, TargetResult, TargetState, judge

FASTER = PerfTarget("warm", "warm run", Kind.faster, 10, 30, "ours", "theirs")
MORE = PerfTarget("rate", "throughput", Kind.more, 5, 10, "ours", "theirs")
WEIGHT = PerfTarget("memory", "memory", Kind.bytes, 4e6, 1.5e6, "box")


def judged(goal: PerfTarget, ours: Timing | None = None, theirs: Timing | None = None, **values: float) -> TargetResult:
    timings = {timing.name: timing for timing in (ours, theirs) if timing is not None}
    return judge(timings, values, (goal,))[0]


def took(name: str, seconds: float, per_s: float | None = None) -> Timing:
    return Timing(name, name, (seconds,), per_s)


@pytest.mark.parametrize(
    ("ours_s", "met"),
    [
        (0.001, TargetState.hope),
        (0.0015, TargetState.hope),
        (0.002, TargetState.bar),
        (0.0045, TargetState.bar),
        (0.006, TargetState.missed),
    ],
)
def test_a_run_is_judged_by_how_many_times_faster_it_is_than_the_baseline(ours_s: float, met: TargetState) -> None:
    one = judged(FASTER, took("ours", ours_s), took("theirs", 0.045 + 1e-9))
    assert one.value == pytest.approx(0.045 / ours_s, rel=1e-4)
    assert one.met is met


def test_being_slower_than_the_baseline_is_told_as_less_than_one() -> None:
    one = judged(FASTER, took("ours", 0.2), took("theirs", 0.1))
    assert (one.value, one.met) == (0.5, TargetState.missed)


@pytest.mark.parametrize(("per_s", "met"), [(250.0, TargetState.hope), (130.0, TargetState.bar), (80.0, TargetState.missed)])
def test_throughput_is_judged_by_runs_per_second_and_not_by_duration(per_s: float, met: TargetState) -> None:
    one = judged(MORE, took("ours", 9.0, per_s), took("theirs", 0.01, 20.0))
    assert one.value == per_s / 20.0
    assert one.met is met


@pytest.mark.parametrize(
    ("weight", "met"), [(1e6, TargetState.hope), (3e6, TargetState.bar), (4e6, TargetState.bar), (5e6, TargetState.missed)]
)
def test_of_memory_less_is_better(weight: float, met: TargetState) -> None:
    assert judged(WEIGHT, box=weight).met is met


def test_one_thing_left_over_is_too_many() -> None:
    goal = next(goal for goal in TARGETS if goal.name == "leftovers")
    assert judged(goal, leftovers=0).met is TargetState.hope
    assert judged(goal, leftovers=1).met is TargetState.missed


def test_what_was_not_measured_is_neither_met_nor_missed() -> None:
    assert judged(WEIGHT) == TargetResult(WEIGHT, None, TargetState.unknown)
    assert judged(FASTER, took("ours", 0.1)).met is TargetState.unknown
    assert judged(MORE, took("ours", 0.1), took("theirs", 0.1)).met is TargetState.unknown


def test_a_comparison_without_a_bar_has_a_value_and_no_judgement() -> None:
    one = judged(PerfTarget("peer", "peer", Kind.faster, None, None, "ours", "theirs"), took("ours", 0.1), took("theirs", 0.4))
    assert (one.value, one.met) == (4.0, TargetState.unknown)


def test_every_hope_asks_for_at_least_as_much_as_its_bar() -> None:
    for goal in TARGETS:
        assert (goal.bar is None) == (goal.hope is None)
        if goal.bar is None or goal.hope is None:
            continue
        assert goal.hope >= goal.bar if goal.is_ratio else goal.hope <= goal.bar
