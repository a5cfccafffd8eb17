"""What the package clients are asked for a row."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from tests.toolchains.rows import row

from sandbox_runtime.errors import Unavailable
from sandbox_runtime.languages import assets_folder, load_catalog
from sandbox_runtime.toolchains import apt
from sandbox_runtime.toolchains.clients import GO, NODE, install_commands
from sandbox_runtime.toolchains.commands import InstallCommand


def asked(root: Path, install: str) -> list[InstallCommand]:
    return list(install_commands(row("oak", install), root, "/guest/python", "/assets"))


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_pip_takes_wheels_alone(tmp_path: Path) -> None:
    (task,) = asked(tmp_path, 'pip = ["acorn==1.0"]\nfolder = "oak"')
    assert task.argv[:4] == (sys.executable, "-m", "pip", "install") and task.argv[-1] == "acorn==1.0"
    assert task.argv[task.argv.index("--only-binary") :][:2] == ("--only-binary", ":all:")
    assert task.argv[task.argv.index("--target") + 1] == str(tmp_path / "oak")


def test_npm_runs_no_scripts_of_packages_and_is_our_own_where_there_is_one(tmp_path: Path) -> None:
    node = program(tmp_path / NODE / "bin" / "node")
    (task,) = asked(tmp_path, 'npm = ["acorn@1.0.0"]\nfolder = "oak"')
    assert task.argv[0] == str(node) and task.argv[1].endswith("npm-cli.js")
    assert "--ignore-scripts" in task.argv and task.argv[-1] == "acorn@1.0.0"


def test_npm_takes_what_the_lock_file_of_a_row_says(tmp_path: Path) -> None:
    program(tmp_path / NODE / "bin" / "node")
    (tmp_path / "oak").mkdir()
    for name in ("package.json", "package-lock.json"):
        (tmp_path / name).write_text(name)
    (task,) = install_commands(row("oak", 'npm = ["acorn@1.0.0"]\nfolder = "oak"'), tmp_path, "/guest/python", str(tmp_path))
    assert "ci" in task.argv and "acorn@1.0.0" not in task.argv
    assert (tmp_path / "oak" / "package-lock.json").read_text() == "package-lock.json"


def test_the_lock_file_of_nodejs_holds_what_its_row_names() -> None:
    language = load_catalog().find("nodejs")
    named = json.loads((Path(assets_folder(language)) / "package.json").read_text())["dependencies"]
    locked = json.loads((Path(assets_folder(language)) / "package-lock.json").read_text())["packages"]
    assert sorted(f"{name}@{version}" for name, version in named.items()) == sorted(language.install.npm)
    assert locked[""]["dependencies"] == named
    assert all("integrity" in package for name, package in locked.items() if name)


def test_a_client_that_is_missing_is_named_with_the_way_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    for install, told in (
        ('npm = ["acorn@1.0.0"]', "sandbox languages install nodejs"),
        ('maven = ["a:b:1"]', "apt install maven"),
        ('go = ["a.b/c@v1.0.0"]', "sandbox languages install go"),
    ):
        with pytest.raises(Unavailable, match=told):
            asked(tmp_path, f'{install}\nfolder = "oak"')


def test_maven_copies_jars_and_what_they_depend_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path / "bin" / "mvn")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    (tmp_path / "oak").mkdir()
    (task,) = asked(tmp_path, 'maven = ["org.x:acorn:1.2"]\nfolder = "oak"')
    pom = Path(task.argv[task.argv.index("-f") + 1]).read_text()
    assert "<groupId>org.x</groupId><artifactId>acorn</artifactId><version>1.2</version>" in pom
    assert f"-DoutputDirectory={tmp_path / 'oak'}" in task.argv


def test_go_builds_programs_into_the_folder(tmp_path: Path) -> None:
    go = program(tmp_path / GO)
    (task,) = asked(tmp_path, 'go = ["example.org/acorn@v1.0.0"]\nfolder = "oak"')
    assert task.argv == (str(go), "install", "example.org/acorn@v1.0.0")
    assert dict(task.env)["GOBIN"] == str(tmp_path / "oak" / "bin")


def test_the_rows_own_commands_come_last_with_their_placeholders_filled(tmp_path: Path) -> None:
    first, second = asked(
        tmp_path, 'pip = ["acorn==1.0"]\nfolder = "oak"\nafter = [["{python}", "{assets}/x", "{toolchains}/oak"]]'
    )
    assert first.argv[0] == sys.executable
    assert (second.argv, second.cwd) == (("/guest/python", "/assets/x", f"{tmp_path}/oak"), str(tmp_path / "oak"))


def test_system_packages_are_superfluous_where_their_programs_are_there() -> None:
    assert apt.required_packages(row("oak", 'apt = ["oak-tools"]\napt_unless = ["bash"]')) == ()
    assert apt.required_packages(row("oak", 'apt = ["oak-tools"]\napt_unless = ["bash", "no-such-program"]')) == ("oak-tools",)


def test_missing_packages_are_found_and_either_of_two_will_do() -> None:
    if not Path("/var/lib/dpkg/status").exists():
        pytest.skip("no Debian")
    assert apt.missing_packages(["bash", "no-such-package", "no-such-package | bash"]) == ["no-such-package"]


def test_without_root_it_is_said_what_to_run_as_root(tmp_path: Path) -> None:
    if os.geteuid():
        with pytest.raises(Unavailable, match=r"as root:.*no-such-package|no apt-get"):
            apt.install(["no-such-package"])
    else:
        with pytest.raises(Unavailable, match="no-such-package"):
            apt.install(["no-such-package"])
