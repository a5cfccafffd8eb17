"""From rows to toolchains on disk: real commands, real locks, real files."""

from __future__ import annotations

import fcntl
import os
import stat
import subprocess
import sys
import threading
import time
import zipfile
from pathlib import Path

import pytest
from tests.toolchains.rows import bash, row

from sandbox_runtime.languages import Language
from sandbox_runtime.toolchains import Installer, InstallReport, ToolchainState
from sandbox_runtime.toolchains import installer as installer_module

TOUCH = 'folder = "oak"\n' + bash("echo once >> made")


class Bench:
    """An installer with a folder of its own and what it told."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "toolchains"
        self.assets = folder / "assets"
        self.assets.mkdir(parents=True)
        self.told: list[str] = []

    def install(self, *languages: Language, again: bool = False) -> list[InstallReport]:
        installer = Installer(self.root, sys.executable, lambda language: str(self.assets), self.told.append)
        return installer.install(languages, reinstall=again)

    def states(self, *languages: Language) -> list[ToolchainState]:
        return [report.state for report in self.install(*languages)]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_the_commands_of_a_row_fill_its_folder(bench: Bench) -> None:
    (bench.assets / "hello").write_text("from the row")
    install = 'folder = "oak"\nafter = [["cp", "{assets}/hello", "{toolchains}/oak/there"], ["/bin/bash", "-c", "pwd > here"]]'
    (report,) = bench.install(row("oak", install))
    assert (report.state, report.reason) == (ToolchainState.installed, "")
    assert (bench.root / "oak" / "there").read_text() == "from the row"
    assert (bench.root / "oak" / "here").read_text().strip() == str(bench.root / "oak")
    assert "oak: running cp hello oak/there" in bench.told


def test_what_stands_is_left_alone(bench: Bench) -> None:
    oak = row("oak", TOUCH)
    assert bench.states(oak) + bench.states(oak) == [ToolchainState.installed, ToolchainState.present]
    assert (bench.root / "oak" / "made").read_text() == "once\n"
    assert bench.install(oak, again=True)[0].state is ToolchainState.installed
    assert (bench.root / "oak" / "made").read_text() == "once\nonce\n"


def test_a_changed_row_is_installed_anew(bench: Bench) -> None:
    bench.install(row("oak", TOUCH))
    assert bench.states(row("oak", TOUCH.replace("once", "twice"))) == [ToolchainState.installed]


def test_a_changed_file_of_a_row_is_reason_to_install_anew(bench: Bench) -> None:
    bench.install(row("oak", TOUCH))
    (bench.assets / "warm.go").write_text("package main")
    assert bench.states(row("oak", TOUCH)) == [ToolchainState.installed]


def test_what_was_made_with_another_program_is_made_again(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = tmp_path / "bin/mycc"
    compiler.parent.mkdir()
    compiler.write_text("1")
    compiler.chmod(0o755)
    monkeypatch.setenv("PATH", str(compiler.parent), prepend=":")
    language = row("one", f'folder = "one"\nmade_with = ["mycc"]\n{bash("true")}')
    assert [bench.install(language)[0].state for _ in range(2)] == [ToolchainState.installed, ToolchainState.present]
    compiler.write_text("22")
    assert bench.install(language)[0].state is ToolchainState.installed


def test_one_that_fails_stops_no_other_and_tells_why(bench: Bench) -> None:
    first, second = bench.install(row("elm", 'folder = "elm"\n' + bash("echo no elm here >&2; exit 3")), row("oak", TOUCH))
    assert (first.state, second.state) == (ToolchainState.failed, ToolchainState.installed)
    assert "failed with 3" in first.reason and "no elm here" in first.reason


def test_one_that_failed_is_tried_again(bench: Bench) -> None:
    elm = row("elm", 'folder = "elm"\n' + bash("test -e ../ready"))
    assert bench.states(elm) == [ToolchainState.failed]
    (bench.root / "ready").touch()
    assert bench.states(elm) == [ToolchainState.installed]


def test_an_installation_that_breaks_off_leaves_no_claim(bench: Bench) -> None:
    bench.install(row("oak", TOUCH))
    broken = row("oak", 'folder = "oak"\n' + bash("exit 1"))
    assert bench.states(broken) == [ToolchainState.failed]
    assert bench.states(row("oak", TOUCH)) == [ToolchainState.installed]


def test_one_that_cannot_be_had_is_told_and_never_tried(bench: Bench) -> None:
    (report,) = bench.install(row("ash", 'unavailable = "extinct"\napt = ["no-such-package-anywhere"]'))
    assert (report.state, report.reason) == (ToolchainState.unavailable, "extinct")
    assert not bench.told


def test_one_that_stands_on_a_failed_one_is_not_tried(bench: Bench) -> None:
    elm = row("elm", 'folder = "elm"\n' + bash("exit 1"))
    ivy = row("ivy", 'on = ["elm"]\nfolder = "ivy"\n' + bash("touch made"))
    assert [report.state for report in bench.install(elm, ivy)] == [ToolchainState.failed, ToolchainState.failed]
    assert not (bench.root / "ivy").exists()


@pytest.mark.timeout(1200)
def test_a_package_that_the_system_does_not_know_costs_only_its_own_language(bench: Bench) -> None:
    if os.geteuid() or not Path("/usr/bin/apt-get").exists():
        pytest.skip("needs root and apt-get")
    elm, oak = bench.install(row("elm", 'apt = ["no-such-package-anywhere"]'), row("oak", 'apt = ["bash"]'))
    assert (elm.state, oak.state) == (ToolchainState.failed, ToolchainState.installed)
    assert "no-such-package-anywhere" in elm.reason


def test_a_command_without_end_is_stopped_with_its_children(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installer_module, "TASK_WITHIN_S", 0.5)
    (report,) = bench.install(row("elm", 'folder = "elm"\n' + bash("sleep 1000 & echo $! > child; wait")))
    assert report.state is ToolchainState.failed and "longer than" in report.reason
    child = int((bench.root / "elm" / "child").read_text())
    deadline = time.monotonic() + 30
    while Path(f"/proc/{child}").exists() and not _is_zombie(child):
        assert time.monotonic() < deadline, "the child goes on"
        time.sleep(0.05)


def test_boxes_can_read_what_is_made_whatever_the_operators_umask(bench: Bench) -> None:
    before = os.umask(0o077)
    try:
        bench.install(row("oak", TOUCH))
    finally:
        assert os.umask(before) == 0o077
    assert stat.S_IMODE((bench.root / "oak" / "made").stat().st_mode) == 0o644
    assert stat.S_IMODE((bench.root / "oak").stat().st_mode) == 0o755


def test_two_installations_do_not_run_at_once(bench: Bench) -> None:
    bench.root.mkdir()
    with open(bench.root / ".lock", "w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        other = threading.Thread(target=bench.install, args=(row("oak", TOUCH),))
        other.start()
        time.sleep(0.2)
        assert not (bench.root / "oak").exists()
    other.join(timeout=60)
    assert (bench.root / "oak" / "made").exists()


def test_wheels_are_unpacked_into_the_folder(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True).returncode:
        pytest.skip("this interpreter has no pip")
    _wheel(tmp_path)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    (report,) = bench.install(row("oak", 'pip = ["acorn==1.0"]\nfolder = "oak"'))
    assert (report.state, report.reason) == (ToolchainState.installed, "")
    assert (bench.root / "oak" / "acorn" / "__init__.py").exists()
    (missing_packages,) = bench.install(row("elm", 'pip = ["no-such-wheel==1.0"]\nfolder = "elm"'))
    assert missing_packages.state is ToolchainState.failed and "no-such-wheel" in missing_packages.reason


def _wheel(folder: Path) -> None:
    about = "acorn-1.0.dist-info"
    with zipfile.ZipFile(folder / "acorn-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("acorn/__init__.py", "")
        wheel.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: acorn\nVersion: 1.0\n")
        wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{about}/RECORD", "")


def _is_zombie(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True
