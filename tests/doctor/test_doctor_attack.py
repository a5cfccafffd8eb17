"""What `sandbox doctor --attack` is pointed at, and against a server that runs."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from tests.cli.commands import sandbox
from tests.conftest import skip_where_the_host_lacks
from tests.doctor.servers import attacked_server

from sandbox_runtime.doctor import Family, Server, load_corpus


def test_the_list_names_every_family_and_every_attack() -> None:
    done = sandbox("doctor", "--list")
    text = done.stdout.decode()
    assert done.returncode == 0
    assert [one.name for one in load_corpus() if f"  {one.name} " not in text] == []
    assert [family for family in Family if f"\n{family} (" not in f"\n{text}"] == []


def test_the_list_of_one_family_names_no_other() -> None:
    text = sandbox("doctor", "--list", "--family", "archives").stdout.decode()
    assert "archive-bomb" in text and "http-wrong-keys" not in text


@pytest.mark.parametrize(
    ("flags", "complaint"),
    [
        (("--attack", "--family", "cats"), b"families are kernel"),
        (("--family", "http"), b"--attack"),
        (("--url", "http://10.0.0.1:80", "--key", "k"), b"--yes-this-is-my-server"),
        (("--url", "http://example.org", "--key", "k"), b"--yes-this-is-my-server"),
        (("--url", "http://localhost.example.org", "--key", "k"), b"--yes-this-is-my-server"),
        (("--url", "ftp://127.0.0.1", "--key", "k"), b"http://127.0.0.1:8080"),
        (("--url", "http://127.0.0.1:80"), b"--key"),
        (("--key", "k"), b"--url"),
    ],
)
def test_what_must_not_be_attacked_is_refused_with_a_reason(flags: tuple[str, ...], complaint: bytes) -> None:
    done = sandbox("doctor", *flags)
    assert done.returncode == 64 and complaint in done.stderr, done.stderr


@pytest.mark.attack
@pytest.mark.asyncio
async def test_a_named_server_is_attacked_and_its_boxes_are_not(tmp_path: Path) -> None:
    skip_where_the_host_lacks("namespaces")
    async with attacked_server(tmp_path, "namespaces", {}) as server:
        report = await asyncio.to_thread(attacked, server, tmp_path / "report.json")
    states = {row["attack"]: row["state"] for row in report["attacks"]}
    assert report["layers"] == [] and report["isolation"] == f"the server at {server.url}"
    assert states["http-wrong-keys"] == states["http-session-of-another-owner"] == "held"
    assert states["http-slow-heads"] == "not_applicable", "what loads a server is for doctor's own"
    assert states["http-read-key-acts"] == "not_applicable", "no key for it was given"
    assert "fork-bomb" not in states


def attacked(server: Server, report: Path) -> dict[str, list[dict[str, str]]]:
    flags = ("--url", server.url, "--key", server.keys["own"], "--other-key", server.keys["other"])
    sandbox("doctor", "--attack", *flags, "--family", "http", "--json", str(report))
    return dict(json.loads(report.read_text()))
