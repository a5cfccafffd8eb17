"""The text rules against programs that leave early."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from sandbox_runtime.judge.antihack import ANTI_HACKS, CppAntiHack, PythonAntiHack, passes_text_rule


@pytest.mark.requirement("judge-12.01")
@pytest.mark.parametrize("code", ["exit(0)", "sys.exit( 0 )", "os._exit(0)", "exit(\n0\n)"])
def test_a_text_that_exits_with_0_fails(code: str) -> None:
    assert not PythonAntiHack.judge(code) and not CppAntiHack.judge(code)
    assert not passes_text_rule(code, "python") and not passes_text_rule(code, "cpp")


@pytest.mark.parametrize("code", ["exit(1)", "exit(code)", "existing(10)", "return 0"])
def test_other_texts_pass(code: str) -> None:
    assert PythonAntiHack.judge(code) and CppAntiHack.judge(code)


def test_other_languages_have_no_such_rule() -> None:
    assert set(ANTI_HACKS) == {"python", "cpp"}
    assert passes_text_rule("process.exit(0)", "nodejs")


@pytest.mark.requirement("judge-12.01")
@pytest.mark.parametrize("call", ["exit(0)", "os._exit(0)", "sys.exit(0)"])
def test_the_head_for_python_leaves_no_way_out(call: str) -> None:
    ended = subprocess.run([sys.executable, "-c", PythonAntiHack.expand_code(call)], capture_output=True, timeout=60)
    assert ended.returncode == 1 and b"TypeError" in ended.stderr


@pytest.mark.requirement("judge-12.01")
def test_the_head_for_cpp_makes_an_exit_an_abortion(tmp_path: Path) -> None:
    source = tmp_path / "a.cpp"
    source.write_text(CppAntiHack.expand_code("#include <iostream>\nint main() { exit(0); }\n"))
    built = subprocess.run(["g++", str(source), "-o", str(tmp_path / "a")], capture_output=True, timeout=100)
    assert built.returncode == 0, built.stderr
    assert subprocess.run([str(tmp_path / "a")], timeout=60).returncode == -6
