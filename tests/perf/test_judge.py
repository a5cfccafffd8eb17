"""The sections about judged completions, in small."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conftest import skip_where_the_host_lacks

from sandbox_runtime.perf.bench_plan import BenchPlan
from sandbox_runtime.perf.suite import measure
from sandbox_runtime.settings import Settings


class Quiet:
    def begin(self, title: str, steps: int) -> None: ...
    def step(self) -> None: ...


@pytest.mark.slow
async def test_judged_completions_are_told_beside_the_same_by_hand(tmp_path: Path, guest_python: str) -> None:
    skip_where_the_host_lacks("namespaces")
    effort = BenchPlan(judge_rounds=1, judge_problems=3, cases_by_hand=1, sabotaged_runs=8, sections=("judge", "judge-faults"))
    report = await measure(Settings(state_dir=str(tmp_path / "state"), guest_python=guest_python), effort, Quiet())
    assert report.failed == {} and not report.skipped
    assert set(report.timings) == {"judge_python", "judge_shared", "python_by_hand", "judge_cases", "cases_by_hand"}
    values = {one.goal.name: one.value for one in report.judged()}
    assert values["judge_python"] is not None and values["judge_cases"] is not None and values["judge_faults"] == 0
    data = report.to_json()["judge_faults"]
    assert data["judged"] + data["not_judged"] + data["refused"] == 8
