"""`sandbox doctor` as a process of its own."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.cli.commands import sandbox
from tests.conftest import skip_where_the_host_lacks

from sandbox_runtime.cli.doctor_report import format_diagnosis
from sandbox_runtime.doctor import Attack, Diagnosis, LayerAssessment, LayerStanding, State, Verdict, assess_layers, load_corpus
from sandbox_runtime.doctor.diagnosis import WEAKER_AS_PLAIN_USER
from sandbox_runtime.doctor.host import processor_warning
from sandbox_runtime.model import Layer, LayerReport, LayerState


@pytest.fixture
def settings(guest_python: str, tmp_path: Path) -> dict[str, str]:
    return {"SANDBOX_GUEST_PYTHON": guest_python, "SANDBOX_STATE_DIR": str(tmp_path / "state")}


def test_every_layer_is_proven_or_said_to_be_weaker(settings: dict[str, str]) -> None:
    skip_where_the_host_lacks("namespaces")
    done = sandbox("doctor", "--json", "-", **settings)
    report = json.loads(done.stdout)
    assert (done.returncode, report["ok"], report["failures"]) == (0, True, [])
    assert {row["layer"] for row in report["layers"]} == {layer.value for layer in Layer}
    for row in report["layers"]:
        weaker = os.geteuid() != 0 and row["layer"] in WEAKER_AS_PLAIN_USER and row["fix"]
        assert row["standing"] == "proven" or weaker, row
    assert {"kernel", "user", "cgroup", "guest interpreter", "bwrap", "nft", "pasta", "g++"} <= report["host"].keys()
    assert report["backends"]["namespaces"] == "in use"


def test_the_report_for_people_names_every_layer_and_ends_with_the_verdict(settings: dict[str, str]) -> None:
    skip_where_the_host_lacks("bubblewrap")
    done = sandbox("doctor", "--isolation", "bubblewrap", **settings)
    text = done.stdout.decode()
    assert done.returncode == 0, text
    assert all(layer in text for layer in Layer)
    assert "bubblewrap: everything held" in text


def test_no_isolation_is_never_to_be_trusted(settings: dict[str, str], tmp_path: Path) -> None:
    done = sandbox("doctor", "--isolation", "none", "--json", str(tmp_path / "report.json"), **settings)
    report = json.loads((tmp_path / "report.json").read_text())
    assert done.returncode == 1
    assert "NOT safe" in done.stdout.decode()
    assert any("network" in failure for failure in report["failures"])
    assert next(row["fix"] for row in report["layers"] if row["layer"] == "network")


def test_where_no_box_can_be_made_it_says_why_and_fails(settings: dict[str, str]) -> None:
    done = sandbox("doctor", "--json", "-", **(settings | {"SANDBOX_GUEST_PYTHON": "/nonexistent/python"}))
    assert done.returncode == 2
    assert b"/nonexistent/python" in done.stderr
    assert json.loads(done.stdout)["ok"] is False


def test_a_report_that_cannot_be_written_is_told(settings: dict[str, str]) -> None:
    done = sandbox("doctor", "--json", "/nonexistent/folder/report.json", "--isolation", "none", **settings)
    assert done.returncode == 64
    assert b"/nonexistent/folder/report.json" in done.stderr


def verdict(state: State, *layers: Layer) -> Verdict:
    return Verdict("attack", "Tries.", layers, layers, state, "a reason")


def diagnosis(proofs: list[LayerAssessment], *verdicts: Verdict, **more: Any) -> Diagnosis:
    known: dict[str, Any] = {"isolation": "namespaces", "as_root": True, "host": {}, "backends": {}, "warnings": []}
    return Diagnosis(**(known | more), layers=proofs, verdicts=verdicts)


ON = [LayerReport(Layer.memory, LayerState.on)]
MISSING = [LayerReport(Layer.memory, LayerState.missing, "no cgroup", "delegate one")]


def test_a_layer_that_nothing_tried_is_not_proven_and_fails() -> None:
    proofs = assess_layers(ON, [verdict(State.not_applicable, Layer.memory)])
    assert proofs[0].standing is LayerStanding.unproven
    assert diagnosis(proofs).failures


@pytest.mark.parametrize("state", [State.escaped, State.inconclusive])
def test_one_bad_attack_breaks_its_layer(state: State) -> None:
    proofs = assess_layers(ON, [verdict(State.held, Layer.memory), verdict(state, Layer.memory)])
    assert proofs[0].standing is LayerStanding.broken
    assert diagnosis(proofs).failures


def test_a_missing_layer_fails_as_root_and_is_a_warning_as_a_plain_user() -> None:
    proofs = assess_layers(MISSING, [])
    assert diagnosis(proofs).failures
    plain = diagnosis(proofs, as_root=False)
    assert plain.failures == []
    assert [proof.fix for proof in plain.weaker] == ["delegate one"]


def test_a_missing_wall_fails_as_a_plain_user_too() -> None:
    proofs = assess_layers([LayerReport(Layer.network, LayerState.missing, "no namespaces", "allow them")], [])
    assert diagnosis(proofs, as_root=False).failures


def test_an_attack_on_no_layer_that_got_through_fails() -> None:
    assert diagnosis([], verdict(State.escaped)).failures


def everything_of(corpus: Sequence[Attack], state: State) -> Diagnosis:
    verdicts = [Verdict(one.name, one.title, one.layers, one.layers, state, "x" * 300, 12.5) for one in corpus]
    reports = [LayerReport(layer, LayerState.on) for layer in Layer]
    facts = {"kernel": "6.1.0 x86_64", "guest interpreter": "/a/long/folder/" * 6 + "bin/python (Python 3.11)"}
    return diagnosis(assess_layers(reports, verdicts), *verdicts, host=facts, backends={"namespaces": "in use"})


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_a_report_has_a_line_for_each_attack_and_none_that_wraps(columns: int) -> None:
    corpus = load_corpus()
    lines = [line.plain for line in format_diagnosis(everything_of(corpus, State.held), columns, verdicts=True)]
    assert max(map(len, lines)) <= columns
    assert len(lines) <= len(corpus) + len(Layer) + 20
    assert all(any(one.name in line for line in lines) for one in corpus if len(one.name) < columns - 30)


def test_what_escaped_is_told_in_full() -> None:
    corpus = load_corpus()[:3]
    text = "".join(line.plain.strip() for line in format_diagnosis(everything_of(corpus, State.escaped), 80, verdicts=True))
    assert text.count("x" * 70) >= 3 * 4 and "NOT safe" in text


def test_the_command_fits_eighty_columns(settings: dict[str, str]) -> None:
    skip_where_the_host_lacks("namespaces")
    lines = sandbox("doctor", **settings, COLUMNS="80").stdout.decode().splitlines()
    assert max(map(len, lines)) <= 80 and len(lines) < 80, lines


LEAKS = {"spec_store_bypass": "Vulnerable\n", "meltdown": "Not affected\n"}


@pytest.mark.parametrize(
    ("command_line", "removed"),
    [
        ("quiet mitigations=off console=ttyS0", "mitigations=off"),
        ("mitigations=auto,no_guest_host quiet", ""),
        ("quiet -- mitigations=off", ""),
        ("nospectre_v2 mds=off spec_store_bypass_disable=prctl", "nospectre_v2 mds=off"),
        ("", ""),
    ],
)
def test_only_what_is_set_is_advised_to_be_removed(command_line: str, removed: str) -> None:
    warning = processor_warning(LEAKS, command_line)
    assert warning is not None and "spec_store_bypass" in warning.text and "meltdown" not in warning.text
    advice = f"; remove {removed} from the kernel's command line" if removed else ""
    assert warning.fix == f"update kernel and microcode{advice}"


def test_a_processor_that_leaks_nothing_is_no_warning() -> None:
    assert processor_warning({"meltdown": "Mitigation: PTI\n"}, "mitigations=off") is None
