"""A whole bench run, as small as it can be: what comes out has the right shape. How long anything took decides nothing."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
from pathlib import Path

import pytest
from tests.conftest import skip_where_the_host_lacks
from tests.perf.peers import answer, peer, plain

from sandbox_runtime.errors import InvalidRequest, Unavailable
from sandbox_runtime.perf.bench_plan import FULL, QUICK, SECTIONS, BenchPlan
from sandbox_runtime.perf.jobs import SOAK
from sandbox_runtime.perf.report import Report
from sandbox_runtime.perf.soak import Holdings, SoakResult
from sandbox_runtime.perf.suite import measure
from sandbox_runtime.settings import Settings

SMALL = BenchPlan(
    rounds=2,
    warmup_rounds=1,
    windows=1,
    window_s=0.2,
    window_warmup_s=0.05,
    data_rounds=1,
    notebook_rounds=1,
    crowd_clients=64,
    crowd_s=0.5,
    soak_runs=len(SOAK),
)
LATENCIES = {"bare", "engine_cold", "engine_on_demand", "engine_warm", "engine_output", "http"}
LOADS = {"bare_1", "engine_1", "engine_16", "http_1", "http_16"}


class Watched:
    """Progress as the one who measures tells it."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.left = 0

    def begin(self, title: str, steps: int) -> None:
        assert self.left == 0
        self.begun.append(title)
        self.left = steps

    def step(self) -> None:
        self.left -= 1


@pytest.fixture
def settings(guest_python: str, tmp_path: Path) -> Settings:
    skip_where_the_host_lacks("namespaces")
    return Settings(guest_python=guest_python, state_dir=str(tmp_path / "never-made"))


async def measured(settings: Settings, *only: str, peer_url: str | None = None, seconds: float | None = None) -> Report:
    watched = Watched()
    report = await measure(settings, SMALL.adjusted(rounds=None, seconds=seconds, soak_runs=None, only=only), watched, peer_url)
    assert watched.left == 0 or report.skipped
    assert report.failed == {}
    assert not Path(settings.state_dir).exists()
    json.dumps(report.to_json(), allow_nan=False)
    return report


def with_bwrap(*names: str) -> set[str]:
    return set(names) if shutil.which("bwrap") else set()


@pytest.mark.slow
async def test_single_runs_and_loads_are_told_with_all_their_contenders_and_a_peer_beside_them(settings: Settings) -> None:
    async with peer(lambda _: plain(answer())) as server:
        report = await measured(settings, "single", "load", peer_url=server.url)
    of_the_peer = {name for name in report.timings if name.startswith("peer")}
    assert set(report.timings) - of_the_peer == LATENCIES | LOADS | with_bwrap("bwrap", "bwrap_cores")
    assert {"peer_1", "peer_16"} <= of_the_peer and server.most_at_once == 16
    assert len(report.timings["bare"].samples_s) == SMALL.rounds
    assert {name for name, timing in report.timings.items() if timing.per_s} - of_the_peer == LOADS | with_bwrap("bwrap_cores")
    judged = {one.goal.name: one for one in report.judged()}
    assert judged["http"].value is not None and judged["http_back_to_back"].value is not None
    assert judged["memory"].value is None
    assert judged["peer"].value is not None and judged["peer"].goal.bar is None


@pytest.mark.slow
async def test_a_peer_that_answers_wrongly_is_told_as_failed_and_we_are_still_measured(settings: Settings) -> None:
    async with peer(lambda _: plain(answer("46\n"))) as server:
        effort = SMALL.adjusted(rounds=None, seconds=None, soak_runs=None, only=["single"])
        report = await measure(settings, effort, Watched(), server.url)
    assert "46" in report.failed["peer"]
    assert set(report.timings) >= LATENCIES


@pytest.mark.slow
async def test_data_runs_are_told_with_and_without_the_preset(settings: Settings) -> None:
    report = await measured(settings, "data", seconds=2.0)
    if "data" in report.skipped:
        pytest.skip(report.skipped["data"])
    assert set(report.timings) == {"data_bare", "data_cold", "data_warm", "data_http", "data_plain", "data_http_16"}


@pytest.mark.slow
async def test_notebooks_are_told_beside_a_kernel_started_by_hand(settings: Settings) -> None:
    report = await measured(settings, "notebook")
    if "notebook" in report.skipped:
        pytest.skip(report.skipped["notebook"])
    assert {"kernel_cold", "notebook_own", "notebook_http"} <= set(report.timings)
    assert {one.goal.name for one in report.judged() if one.value is not None} >= {"notebook"}
    assert "peer" not in {one.goal.name for one in report.judged()}


async def test_the_memory_of_idle_boxes_is_told_for_each_number_of_them(settings: Settings) -> None:
    report = await measured(settings, "memory")
    if "memory" in report.skipped:
        assert os.geteuid() != 0
        pytest.skip(report.skipped["memory"])
    assert [one.boxes for one in report.memory] == [settings.pool_size, 16]
    for one in report.memory:
        assert one.processes >= 1
        assert 0 < one.private_bytes <= one.pss_bytes
    tells_where_it_comes_from(report)


@pytest.mark.slow
async def test_after_rough_runs_nothing_is_left_and_every_answer_was_right(settings: Settings) -> None:
    report = await measured(settings, "soak")
    assert report.soaked is not None
    assert (report.soaked.wrong, report.soaked.faults) == (0, {})
    assert report.soaked.leftovers.total == 0
    assert report.soaked.before.processes > 0 and report.soaked.before.descriptors > 0
    assert report.soaked.server_bytes_after > 0
    assert report.soaked.growth is None


def tells_where_it_comes_from(report: Report) -> None:
    data = report.to_json()
    assert data["schema"] == 1
    assert data["effort"]["sections"] == ("memory",)
    machine = data["machine"]
    assert machine["backend"] == "namespaces" and machine["cores_allowed"] >= 1
    assert {"kernel", "python", "guest_version", "cgroup", "load_average", "layers_off"} <= machine.keys()
    assert 0 <= machine["idle_before"] <= 1 and 0 <= machine["idle_after"] <= 1


async def test_a_guest_interpreter_that_does_not_work_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="guest_python"):
        await measure(Settings(guest_python="/nonexistent/python", state_dir=str(tmp_path)), SMALL, Watched())


async def test_an_address_of_a_peer_that_is_none_is_refused_before_anything_is_measured(settings: Settings) -> None:
    with pytest.raises(InvalidRequest, match="ftp"):
        await measure(settings, SMALL, Watched(), "ftp://peer")


def test_growth_is_told_only_after_enough_runs() -> None:
    nothing = Holdings(0, 0, 0, 0, 0)
    few = SoakResult(499, 1.0, 0, {}, nothing, nothing, nothing, 100, 110, None, None)
    assert few.growth is None
    assert dataclasses.replace(few, runs=500).growth == pytest.approx(0.1)


def test_only_what_was_not_there_before_is_left_over() -> None:
    before, after = Holdings(5, 40, 8, 60, 3), Holdings(7, 38, 8, 61, 3)
    assert after.beyond(before) == Holdings(2, 0, 0, 1, 0)
    assert after.beyond(before).total == 3


def test_what_is_asked_for_changes_the_effort_and_nothing_else_of_it() -> None:
    adjusted = FULL.adjusted(rounds=7, seconds=6.0, soak_runs=5000, only=["soak", "single"])
    assert (adjusted.rounds, adjusted.soak_runs, adjusted.sections) == (7, 5000, ("single", "soak"))
    assert adjusted.window_s * adjusted.windows == pytest.approx(6.0)
    assert FULL.adjusted(rounds=None, seconds=None, soak_runs=None, only=[]) == FULL
    assert QUICK.sections == FULL.sections == SECTIONS


@pytest.mark.parametrize(
    "wrong", [{"rounds": 0}, {"rounds": -3}, {"seconds": 0.0}, {"seconds": float("nan")}, {"soak_runs": 0}, {"only": ["speed"]}]
)
def test_an_effort_out_of_bounds_is_refused(wrong: dict[str, object]) -> None:
    options: dict[str, object] = {"rounds": None, "seconds": None, "soak_runs": None, "only": [], **wrong}
    with pytest.raises(InvalidRequest):
        FULL.adjusted(**options)  # type: ignore[arg-type]


async def test_a_crowd_gets_no_error_nobody_hangs_and_no_blame_is_wrong(settings: Settings) -> None:
    found = (await measured(settings, "crowd")).crowd
    assert found is not None and found.answers > 0
    assert (found.errors, found.hung, found.wrong_blame, found.faults) == (0, 0, 0, {})
