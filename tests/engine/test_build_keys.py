"""The name of a build changes with everything that goes into it, and with nothing else."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.languages.language_file import GOOD

from sandbox_runtime.engine.build.key import build_key
from sandbox_runtime.engine.build.toolchain_identity import ToolchainIdentity
from sandbox_runtime.languages.reader import read_language
from sandbox_runtime.model import File, Limits, Plan, Step

AWK = read_language(GOOD, "awk.toml")
STEP = Step(("cc", "-O", "main.c"), (("LC_ALL", "C"),))
PLAN = Plan((File("main.c", b"int x;"), File("a.h", b"")), STEP, Step(("./test",)), links=(("m", "/t"),))
TOOLCHAIN = ("/usr/bin/cc 1 2",)
USUAL = Limits()


def named(plan: Plan = PLAN, limits: Limits = USUAL, toolchain: tuple[str, ...] = TOOLCHAIN) -> str:
    return build_key(AWK, plan, limits, toolchain)


def with_files(*files: File) -> Plan:
    return dataclasses.replace(PLAN, files=files)


def with_step(*argv: str, **env: str) -> Plan:
    return dataclasses.replace(PLAN, compile=Step(argv, tuple(env.items())))


@pytest.mark.parametrize(
    "other",
    [
        named(with_files(File("main.c", b"int y;"), File("a.h", b""))),
        named(with_files(File("main.c", b"int x;"), File("b.h", b""))),
        named(with_files(File("main.c", b"int x;"))),
        named(with_files(File("a.h", b""), File("main.c", b"int x;"))),
        named(with_files(File("main.c", b"int x;", executable=True), File("a.h", b""))),
        named(with_files(File("main.c", b"int x;name 3\na.hplain 0\n"))),
        named(with_step("cc", "-O2", "main.c", LC_ALL="C")),
        named(with_step("cc", "-O main.c", LC_ALL="C")),
        named(with_step("cc", "-O", "main.c", LC_ALL="D")),
        named(with_step("cc", "-O", "main.c")),
        named(dataclasses.replace(PLAN, links=(("m", "/u"),))),
        named(dataclasses.replace(PLAN, links=())),
        named(limits=Limits(memory_bytes=2**24)),
        named(limits=Limits(disk_bytes=2**24)),
        named(toolchain=("/usr/bin/cc 1 3",)),
        named(toolchain=(*TOOLCHAIN, "/usr/bin/ld 1 2")),
        build_key(dataclasses.replace(AWK, name="other"), PLAN, Limits(), TOOLCHAIN),
    ],
)
def test_whatever_goes_into_a_build_changes_its_name(other: str) -> None:
    assert other != named()


def test_what_does_not_go_into_a_build_leaves_its_name_alone() -> None:
    assert named(dataclasses.replace(PLAN, run=Step(("./other",)))) == named()
    assert named(limits=Limits(wall_s=3, cpu_s=2)) == named()


@pytest.fixture
def host(tmp_path: Path) -> Path:
    (tmp_path / "bin").mkdir()
    (tmp_path / "tools/lang").mkdir(parents=True)
    compiler = tmp_path / "bin/mycc"
    compiler.write_text("1")
    compiler.chmod(0o755)
    (tmp_path / "lib.jar").write_text("1")
    return tmp_path


def older(path: Path) -> None:
    os.utime(path, (1, 1))


@pytest.mark.parametrize(
    "change",
    [
        lambda host: (host / "bin/mycc").write_text("22"),
        lambda host: older(host / "bin/mycc"),
        lambda host: older(host / "lib.jar"),
        lambda host: (host / "lib.jar").unlink(),
        lambda host: (host / "tools/lang/new").write_text(""),
        lambda host: older(host / "tools/.stamps/awk"),
    ],
)
def test_a_toolchain_that_was_changed_is_another(host: Path, change: Callable[[Path], object]) -> None:
    (host / "tools/.stamps").mkdir()
    (host / "tools/.stamps/awk").write_text("")
    identity = ToolchainIdentity(str(host / "bin/python"), str(host / "tools"))
    step = Step(("mycc", f"-I/nowhere:{host}/lib.jar"))
    before = identity.stamps(step, "awk", "lang")
    assert before == identity.stamps(step, "awk", "lang")
    change(host)
    assert identity.stamps(step, "awk", "lang") != before


def test_a_compiler_that_is_not_there_has_no_identity(host: Path) -> None:
    assert ToolchainIdentity(str(host / "bin/python"), str(host)).stamps(Step(("no-such-compiler",)), "awk") == ()
