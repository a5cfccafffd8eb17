"""`sandbox run FILE`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from tests.cli.commands import sandbox

from sandbox_runtime.cli.exit_codes import COMPILE_FAILED, ENDING_EXIT_CODES

Run = Callable[..., CompletedProcess[bytes]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Write a program, run it, and see what came of it."""

    def running(name: str, code: str | bytes, *arguments: str, stdin: bytes = b"") -> CompletedProcess[bytes]:
        (tmp_path / name).write_bytes(code.encode() if isinstance(code, str) else code)
        state = f"state_dir={tmp_path / 'state'}"
        return sandbox("run", name, "--set", state, *arguments, cwd=tmp_path, stdin=stdin)

    return running


def test_output_and_exit_code_are_those_of_the_program(run: Run) -> None:
    done = run("a.py", "import sys; print('out'); print('err', file=sys.stderr); sys.exit(7)")
    assert (done.returncode, done.stdout, done.stderr) == (7, b"out\n", b"err\n")


def test_the_language_goes_by_the_extension(run: Run) -> None:
    assert run("a.sh", "echo $((6 * 7))").stdout == b"42\n"
    assert run("a.cc", '#include <cstdio>\nint main() { std::puts("hi"); }').stdout == b"hi\n"


def test_the_language_can_be_named(run: Run) -> None:
    assert run("noext", "print(1)", "--language", "py").stdout == b"1\n"


def test_standard_input_is_ours_or_that_of_a_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"file\xff")
    code = "import sys; sys.stdout.buffer.write(sys.stdin.buffer.read())"
    assert run("a.py", code, "--stdin", "-", stdin=b"pipe\0").stdout == b"pipe\0"
    assert run("a.py", code, "--stdin", "in").stdout == b"file\xff"
    assert run("a.py", code, stdin=b"not asked for").stdout == b""


def test_a_source_that_is_no_utf8_is_run_as_it_is(run: Run) -> None:
    assert run("a.py", b"# -*- coding: latin-1 -*-\nprint(len('\xe9'))").stdout == b"1\n"


@pytest.mark.parametrize(
    ("name", "code", "arguments", "exit_code", "told"),
    [
        ("a.py", "import os, signal; os.kill(os.getpid(), signal.SIGTERM)", [], 143, b""),
        ("a.py", "while True: pass", ["--timeout", "0.3"], 124, b"timed out"),
        ("a.cpp", "int main( {", [], 119, b"error"),
        ("a.py", "while True: print('x' * 100_000)", ["--set", "output_limit=1000000"], 121, b"output limit"),
    ],
)
def test_endings_have_their_own_exit_codes(
    run: Run, name: str, code: str, arguments: list[str], exit_code: int, told: bytes
) -> None:
    done = run(name, code, *arguments)
    assert done.returncode == exit_code and told in done.stderr


def test_out_of_memory_is_told(run: Run) -> None:
    """By its own exit code where the kernel counts memory for us; otherwise the program itself is refused it."""
    done = run("a.py", "x = bytearray(200_000_000)", "--memory", "32")
    assert (done.returncode == 120 and b"out of memory" in done.stderr) or (
        done.returncode == 1 and b"MemoryError" in done.stderr
    )


@pytest.mark.parametrize(
    ("arguments", "exit_code", "told"),
    [
        (["--timeout", "-1"], 64, b"wall_s"),
        (["--timeout", "nan"], 64, b"wall_s"),
        (["--timeout", "1e9"], 64, b"wall_s"),
        (["--memory", "0"], 64, b"memory_bytes"),
        (["--language", "brainfold"], 66, b"brainfold"),
        (["--isolation", "magic"], 64, b"isolation"),
        (["--set", "nonsense"], 64, b"NAME=VALUE"),
        (["--set", "speed=1"], 64, b"unknown setting"),
        (["--stdin", "missing"], 64, b"cannot read"),
        (["--config", "missing.toml"], 64, b"missing.toml"),
    ],
)
def test_a_bad_request_is_told_in_one_line(run: Run, arguments: list[str], exit_code: int, told: bytes) -> None:
    done = run("a.py", "print(1)", *arguments)
    assert (done.returncode, done.stdout) == (exit_code, b"")
    assert told in done.stderr and done.stderr.startswith(b"sandbox: ") and done.stderr.count(b"\n") == 1


def test_a_missing_file_and_an_unknown_extension_are_told(run: Run, tmp_path: Path) -> None:
    assert run("a.xyz", "x").returncode == 66
    missing = sandbox("run", "missing.py", "--set", f"state_dir={tmp_path}", cwd=tmp_path)
    assert missing.returncode == 64 and b"cannot read missing.py" in missing.stderr


def test_the_whole_result_as_json(run: Run) -> None:
    done = run("a.py", "print('ü')", "--json", "--isolation", "none")
    told = json.loads(done.stdout)
    assert (told["compile"], told["run"]["stdout"], told["run"]["ending"]) == (None, "ü\n", "exited")
    assert "NO ISOLATION" in told["run"]["isolation"] and told["run"]["usage"]["wall_s"] > 0


def test_the_exit_codes_are_told_in_the_help() -> None:
    told = sandbox("run", "--help").stdout.decode()
    assert all(str(code) in told for code in {COMPILE_FAILED, *ENDING_EXIT_CODES.values()} - {130})


def test_several_inputs_are_run_one_by_one_with_one_program(run: Run, tmp_path: Path) -> None:
    for name, text in (("one", "1 2"), ("two", "20 22")):
        (tmp_path / name).write_text(text)
    code = '#include <iostream>\nint main() { int a, b; std::cin >> a >> b; std::cout << a + b << "\\n"; return a > 9 ? 4 : 0; }'
    done = run("a.cpp", code, "--stdin", "one", "--stdin", "two")
    assert (done.returncode, done.stdout) == (4, b"3\n42\n")
    told = json.loads(run("a.cpp", code, "--stdin", "one", "--stdin", "two", "--json").stdout)
    assert [one["stdout"] for one in told["runs"]] == ["3\n", "42\n"] and told["compile"]["cached"]


def test_of_what_does_not_compile_no_input_is_run(run: Run, tmp_path: Path) -> None:
    (tmp_path / "in").write_text("")
    done = run("a.cpp", "int main( {", "--stdin", "in", "--stdin", "in")
    assert done.returncode == COMPILE_FAILED and done.stderr.count(b"error:") >= 1
    assert done.stderr.count(b"In function") <= 1


@pytest.mark.parametrize("flag", ["--timeout=nan", "--timeout=inf", "--timeout=-1", "--timeout=-0", "--memory=0", "--memory=-1"])
def test_a_limit_that_is_no_number_is_refused(run: Run, flag: str) -> None:
    done = run("a.py", "print(1)", flag)
    assert (done.returncode, done.stdout) == (64, b"") and b"must be" in done.stderr
