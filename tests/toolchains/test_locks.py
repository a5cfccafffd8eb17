"""Everything that installations of our own rows fetch is pinned by hash."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.toolchains.rows import row

from sandbox_runtime.languages import Language, assets_folder, load_catalog
from sandbox_runtime.toolchains.clients import MAVEN_LOCK, PIP_LOCK, install_commands
from sandbox_runtime.toolchains.verify import Mismatch, check, read_lock

ROWS = list(load_catalog())
ROOT = Path(__file__).parent.parent.parent
HASHED = re.compile(r"^[a-z0-9-]+==[^ ]+( ;[^\\]*)? ?\\\n(    --hash=sha256:[0-9a-f]{64}( \\)?\n)+", re.MULTILINE)
ADDRESS = re.compile(r"://")
DOWNLOADS = re.compile(
    r"\b(curl|wget|git clone|pip3? (install|download)|npm (install|i)\b|npx|go install|cargo install|gem install)"
)


def asset(language: Language, name: str) -> Path:
    return Path(assets_folder(language)) / name


@pytest.mark.parametrize("language", [one for one in ROWS if one.install.pip], ids=lambda one: one.name)
def test_wheels_of_a_row_are_pinned_by_hash(language: Language) -> None:
    text = asset(language, PIP_LOCK).read_text()
    assert all(f"{package} " in text for package in language.install.pip)
    assert not ADDRESS.search(text) and not HASHED.sub("", re.sub(r"^#.*\n", "", text, flags=re.MULTILINE)).strip()


@pytest.mark.parametrize("language", [one for one in ROWS if one.install.npm], ids=lambda one: one.name)
def test_packages_of_npm_are_pinned_by_hash(language: Language) -> None:
    named = json.loads(asset(language, "package.json").read_text())["dependencies"]
    assert sorted(f"{name}@{version}" for name, version in named.items()) == sorted(language.install.npm)
    check_npm(asset(language, "package-lock.json"), named)


def test_the_conformance_suite_is_pinned_by_hash() -> None:
    folder = ROOT / "scripts" / "mcp"
    check_npm(folder / "package-lock.json", json.loads((folder / "package.json").read_text())["dependencies"])


def check_npm(lock: Path, named: dict[str, str]) -> None:
    packages = json.loads(lock.read_text())["packages"]
    assert packages[""]["dependencies"] == named
    assert all(package["integrity"].startswith("sha512-") for name, package in packages.items() if name)
    assert not any("resolved" in package for package in packages.values()) and not ADDRESS.search(lock.read_text())


@pytest.mark.parametrize("language", [one for one in ROWS if one.install.maven], ids=lambda one: one.name)
def test_jars_are_pinned_by_hash(language: Language) -> None:
    names = read_lock(asset(language, MAVEN_LOCK).read_text())
    for package in language.install.maven:
        _, artifact, version = package.split(":")
        assert f"{artifact}-{version}.jar" in names


def test_no_row_builds_programs_of_modules_that_no_lock_file_names() -> None:
    assert [language.name for language in ROWS if language.install.go] == []


def test_scripts_of_rows_fetch_nothing_but_by_hash() -> None:
    scripts = [path for language in ROWS for path in Path(assets_folder(language)).glob("*.sh")]
    assert scripts
    for script in {*scripts, *(ROOT / "scripts").glob("*.sh")}:
        text = re.sub(r"\\\n", " ", re.sub(r"^\s*#.*$", "", script.read_text(), flags=re.MULTILINE))
        for line in text.splitlines():
            hashed = "--require-hashes" in line or "--no-deps --no-build-isolation" in line or "pip_install" in line
            assert hashed or not DOWNLOADS.search(line) or '"$@"' in line or "echo" in line, (script, line)


def test_pip_is_asked_for_what_the_lock_file_says(tmp_path: Path) -> None:
    (tmp_path / PIP_LOCK).write_text("acorn==1.0 --hash=sha256:0\n")
    (task,) = install_commands(row("oak", 'pip = ["acorn==1.0"]\nfolder = "oak"'), tmp_path, "/guest/python", str(tmp_path))
    assert task.argv[-3:] == ("--require-hashes", "-r", str(tmp_path / PIP_LOCK))


def jars(folder: Path, **content: bytes) -> dict[str, str]:
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in content.items():
        (folder / f"{name}.jar").write_bytes(data)
    return {f"{name}.jar": hashlib.sha256(data).hexdigest() for name, data in content.items()}


def test_jars_that_are_what_the_lock_file_says_are_taken(tmp_path: Path) -> None:
    required_packages = jars(tmp_path / "fetched", a=b"a", b=b"b")
    (tmp_path / "lock").write_text("# comment\n" + "".join(f"{digest}  {name}\n" for name, digest in required_packages.items()))
    words = [str(tmp_path / "lock"), str(tmp_path / "fetched"), str(tmp_path)]
    done = subprocess.run([sys.executable, "-m", "sandbox_runtime.toolchains.verify", *words], capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "a.jar").read_bytes() == b"a" and not (tmp_path / "fetched").exists()


@pytest.mark.parametrize("fault", ["another", "missing", "more"])
def test_anything_else_is_refused_by_name(tmp_path: Path, fault: str) -> None:
    required_packages = jars(tmp_path, a=b"a", b=b"b")
    if fault == "another":
        (tmp_path / "a.jar").write_bytes(b"other")
    elif fault == "missing":
        (tmp_path / "a.jar").unlink()
    else:
        required_packages.pop("a.jar")
    with pytest.raises(Mismatch, match=r"a\.jar"):
        check(tmp_path, required_packages)


@pytest.mark.parametrize("line", ["0" * 63 + "  a.jar", "0" * 64 + "  ../a.jar", "0" * 64 + " a.jar", "a.jar"])
def test_a_lock_file_that_cannot_be_read_is_refused(line: str) -> None:
    with pytest.raises(Mismatch, match="no hash and name"):
        read_lock(f"{line}\n")
