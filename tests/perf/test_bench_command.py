from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from rich.console import Console
from tests.cli.commands import sandbox
from tests.conftest import skip_where_the_host_lacks

from sandbox_runtime.cli.bench_report import print_report
from sandbox_runtime.perf.memory import BoxMemory
from sandbox_runtime.perf.report import Report
from sandbox_runtime.perf.statistics import Timing

MACHINE = {
    "backend": "namespaces",
    "layers_off": ["cpu"],
    "cores_allowed": 2,
    "kernel": "6.1",
    "python": "3.12.1",
    "guest_version": "3.11",
    "cgroup": "version 2",
    "idle_before": 0.98,
    "idle_after": 0.97,
}


def report(sections: tuple[str, ...] = ("memory", "single", "load", "data", "soak")) -> Report:
    return Report("1.2.3", "2025-01-01T00:00:00+00:00", MACHINE, {"sections": sections})


def printed(of: Report) -> str:
    console = Console(width=160, record=True, file=open(os.devnull, "w"))  # noqa: SIM115
    print_report(of, console)
    return console.export_text()


def test_a_figure_is_shown_with_its_baseline_its_ratio_and_whether_its_bar_is_met() -> None:
    found = report()
    found.timings = {
        "engine_warm": Timing("engine_warm", "engine: box from the pool", (0.001, 0.002, 0.003)),
        "bwrap": Timing("bwrap", "bwrap … python main.py", (0.05,)),
    }
    row = next(line for line in printed(found).splitlines() if line.strip().startswith("warm run"))
    assert row.split() == [
        *["warm", "run", "in", "the", "engine"],
        *["2.00", "/", "2.90", "/", "2.98", "ms"],
        "-",
        *["50.0", "ms", "bwrap"],
        "25x",
        *["≥", "10x", "≥", "30x", "bar"],
    ]


def test_what_was_missed_skipped_and_failed_is_said() -> None:
    found = report()
    found.memory = [BoxMemory(16, 9_000_000, 1_000_000, 2_000_000, 2, 30_000_000)]
    found.skipped["bwrap"] = "bwrap is not installed"
    found.failed["soak"] = "it broke"
    text = printed(found)
    assert "9.0 MB" in text and "missed" in text
    assert "skipped bwrap: bwrap is not installed" in text
    assert "failed soak: it broke" in text
    assert "without cpu" in text


def test_a_busy_machine_is_told() -> None:
    found = report()
    assert "busy" not in printed(found)
    found.machine = {**MACHINE, "idle_after": 0.4}
    assert "busy" in printed(found) and "40% after" in printed(found)


def test_of_a_part_only_that_part_is_shown() -> None:
    found = report(("memory",))
    found.memory = [BoxMemory(16, 3_000_000, 1_000_000, 2_000_000, 2, 30_000_000)]
    text = printed(found)
    assert "memory of an idle box" in text and "throughput" not in text


def test_a_part_is_measured_and_written_as_json(guest_python: str, tmp_path: Path) -> None:
    skip_where_the_host_lacks("namespaces")
    target = tmp_path / "figures.json"
    ended = sandbox("bench", "--quick", "--only", "memory", "--json", str(target), SANDBOX_GUEST_PYTHON=guest_python)
    assert ended.returncode == 0, ended.stderr
    data = json.loads(target.read_text())
    assert data["effort"]["sections"] == ["memory"]
    assert data["failed"] == {}
    assert len(data["memory"]) == 2 or "memory" in data["skipped"]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--only", "speed"], b"'speed' is nothing that is measured"),
        (["--runs", "0"], b"--runs must be at least 1"),
        (["--peer", "ftp://peer"], b"no address of a server"),
        (["--json", "/nonexistent/figures.json"], b"cannot write"),
    ],
)
def test_a_wrong_option_is_refused_at_once(arguments: list[str], reason: bytes) -> None:
    ended = sandbox("bench", *arguments)
    assert ended.returncode == 64
    assert reason in ended.stderr
