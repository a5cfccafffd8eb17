"""`sandbox doctor` as a process of its own."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests.cli.commands import sandbox
from tests.conftest import skip_where_the_host_lacks

from sandbox_runtime.model import Layer, LayerReport, LayerState
from sandbox_runtime.proof import Diagnosis, LayerProof, Standing, State, Verdict, prove
from sandbox_runtime.proof.diagnosis import WEAKER_AS_PLAIN_USER


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
    assert "NOT to be trusted" in done.stdout.decode()
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


def diagnosis(proofs: list[LayerProof], *verdicts: Verdict, **more: Any) -> Diagnosis:
    known: dict[str, Any] = {"isolation": "namespaces", "as_root": True, "host": {}, "backends": {}, "warnings": []}
    return Diagnosis(**(known | more), layers=proofs, verdicts=verdicts)


ON = [LayerReport(Layer.memory, LayerState.on)]
MISSING = [LayerReport(Layer.memory, LayerState.missing, "no cgroup", "delegate one")]


def test_a_layer_that_nothing_tried_is_not_proven_and_fails() -> None:
    proofs = prove(ON, [verdict(State.not_applicable, Layer.memory)])
    assert proofs[0].standing is Standing.unproven
    assert diagnosis(proofs).failures


@pytest.mark.parametrize("state", [State.escaped, State.inconclusive])
def test_one_bad_attack_breaks_its_layer(state: State) -> None:
    proofs = prove(ON, [verdict(State.held, Layer.memory), verdict(state, Layer.memory)])
    assert proofs[0].standing is Standing.broken
    assert diagnosis(proofs).failures


def test_a_missing_layer_fails_as_root_and_is_a_warning_as_a_plain_user() -> None:
    proofs = prove(MISSING, [])
    assert diagnosis(proofs).failures
    plain = diagnosis(proofs, as_root=False)
    assert plain.failures == []
    assert [proof.fix for proof in plain.weaker] == ["delegate one"]


def test_a_missing_wall_fails_as_a_plain_user_too() -> None:
    proofs = prove([LayerReport(Layer.network, LayerState.missing, "no namespaces", "allow them")], [])
    assert diagnosis(proofs, as_root=False).failures


def test_an_attack_on_no_layer_that_got_through_fails() -> None:
    assert diagnosis([], verdict(State.escaped)).failures
