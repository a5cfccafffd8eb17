"""Tools' pure parts: which language it is, what is wrapped, what the word filter refuses, how progress is read."""

from __future__ import annotations

import pytest

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.languages.detection import detect_language
from sandbox_runtime.mcp.notifications import find_progress
from sandbox_runtime.mcp.tools.arguments import resolve_folder, resolve_name
from sandbox_runtime.mcp.tools.build_commands import launch_line
from sandbox_runtime.mcp.tools.main_wrapper import wrap_main
from sandbox_runtime.mcp.tools.run import truncate
from sandbox_runtime.mcp.tools.word_filter import check_words


@pytest.mark.requirement("mcp-4.06")
@pytest.mark.parametrize(
    ("code", "language"),
    [
        ("print('x')", "python"),
        ("import os\nos.getcwd()", "python"),
        ("const x = 1", "javascript"),
        ("const x: number = 1", "typescript"),
        ('package main\nimport "fmt"\nfunc main() {}', "go"),
        ("#include <stdio.h>\nint main() { return 0; }", "c"),
        ("#include <iostream>\nint main() {}", "cpp"),
        ("fn main() { println!(); }", "rust"),
        ("public class Main { }", "java"),
        ("using System;\nclass P {}", "csharp"),
        ("ls -la | wc -l", "bash"),
        ("#!/usr/bin/env python3\nx = 1", "python"),
    ],
)
def test_the_language_is_known_by_its_marks(code: str, language: str) -> None:
    assert detect_language(code) == language


@pytest.mark.requirement("mcp-5.03")
def test_whole_programs_stay_as_they_are() -> None:
    for language, code in (("cpp", "int main() {}"), ("rust", "fn main() {}"), ("go", "package x\n"), ("python", "x")):
        assert wrap_main(language, code) == code


@pytest.mark.requirement("mcp-4.17")
def test_the_filter_follows_its_level() -> None:
    for code in ("rm -rf /", ":(){ :|:& };:", "dd if=/dev/zero of=x", "mkfs.ext4 /dev/sda"):
        for level in ("strict", "moderate"):
            with pytest.raises(InvalidRequest, match="permissive"):
                check_words(code, level)
        check_words(code, "permissive")
    for code in ("sudo ls", "chmod 777 x", "curl http://x", "cat /etc/passwd", "su - root", "nc -l 80", "wget x"):
        with pytest.raises(InvalidRequest):
            check_words(code, "strict")
        check_words(code, "moderate")
    for code in ("sum(x)", "result = func(1)", "print('issue')", "echo hi > /dev/null", "rm -rf ./build"):
        check_words(code, "strict")


def test_options_cannot_become_commands() -> None:
    line = launch_line("cpp", {"extra_flags": "-DX='a b' ; rm -rf /", "std": "c++17; reboot"})
    assert "';'" in line.build and "'c++17; reboot'" in line.build


def test_paths_stay_in_the_sandbox() -> None:
    assert resolve_name("/workspace/a/../b.txt") == resolve_name("b.txt") == "b.txt" and resolve_folder("/tmp/x") == "/tmp/x"
    for path in ("/etc/passwd", "../x", "/workspace/../x", "/workspaces/x", "a\0b"):
        with pytest.raises(InvalidRequest):
            resolve_name(path)
    for path in ("/", "/etc", "../..", "/tmpx"):
        with pytest.raises(InvalidRequest):
            resolve_folder(path)


@pytest.mark.requirement("mcp-10.01")
def test_progress_is_read_from_what_programs_print() -> None:
    assert find_progress("epoch 3/10") == (30.0, 100.0)
    assert find_progress("10% … 45.5%") == (45.0, 100.0)
    assert find_progress("hello") is None and find_progress("7/0 900%") is None


@pytest.mark.requirement("mcp-10.02")
def test_long_output_keeps_its_head_and_its_tail() -> None:
    text, cut = truncate("a" * 5000 + "z" * 5000, 1000)
    assert cut and text.startswith("a" * 500) and text.endswith("z" * 500) and "9000 bytes left out" in text
    assert truncate("ä" * 10, 20) == ("ä" * 10, False)
