"""(language, job, toolchain) → plan."""

from __future__ import annotations

import pytest
from tests.languages.language_file import GOOD

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.languages import Toolchain, load_catalog, plan
from sandbox_runtime.languages.reader import read_language
from sandbox_runtime.model import File, Job, Plan

TOOLS = Toolchain(python="/opt/python", workdir="/w", preset="data", linked=("-lssl",), toolchains="/t")


def planned(language: str, code: str = "x", *files: File) -> Plan:
    return plan(load_catalog().find(language), Job(language, code, files=files), TOOLS)


def test_python_is_one_command_in_the_operators_preset() -> None:
    made = planned("python")
    assert (made.compile, made.run.argv, made.preset) == (None, ("/opt/python", "main.py"), "data")
    assert made.files == (File("main.py", b"x"),)


def test_cpp_is_compiled_with_the_flags_that_link() -> None:
    made = planned("cpp")
    assert made.compile is not None
    assert made.compile.argv[:2] == ("g++", "-std=c++17")
    assert "main.cpp" in made.compile.argv and made.compile.argv[-3:] == ("-o", "test", "-lssl")
    assert (made.run.argv, made.preset) == (("./test",), "std")


def test_environment_placeholders_are_filled() -> None:
    made = plan(read_language(GOOD, "awk.toml"), Job("awk", "x"), TOOLS)
    assert made.run.env == (("LC_ALL", "C"), ("HERE", "/w"))


def test_braces_of_a_callers_file_name_are_never_placeholders() -> None:
    assert planned("bash", "x", File("{python}", b"")).files[0].name == "{python}"


def test_the_files_of_the_caller_come_before_the_program() -> None:
    assert [file.name for file in planned("python", "x", File("a.txt", b"1")).files] == ["a.txt", "main.py"]


def test_a_file_named_like_the_program_is_not_overwritten() -> None:
    made = planned("python", "import main", File("./main.py", b"mine"), File("main_1.py", b"too"))
    assert [file.name for file in made.files] == ["./main.py", "main_1.py", "main_2.py"]
    assert made.run.argv[-1] == "main_2.py"


def test_bytes_that_are_no_text_come_out_as_they_were() -> None:
    assert planned("python", b"# \xe9".decode(errors="surrogateescape")).files[0].content == b"# \xe9"


def test_a_lone_surrogate_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="Unicode"):
        planned("python", "\ud800")


def awk(extra: str = "", argv: str = '["awk"]', *, code: str = "x", files: tuple[File, ...] = ()) -> Plan:
    row = GOOD.replace('needs = "awk"', f'needs = "awk"\n{extra}').replace('["awk", "-f", "{source}"]', argv)
    language = read_language(row, "awk.toml", lambda folder, name: b"ours")
    return plan(language, Job("awk", code, files=files), TOOLS)


def test_placeholders_are_filled_inside_words() -> None:
    made = awk(argv='["{toolchains}/bin/awk", "-s{stem}.out", ".{jars}"]', files=(File("a.jar", b""), File("b.txt", b"")))
    assert made.run.argv == ("/t/bin/awk", "-smain.out", ".:a.jar")
    assert awk(argv='["awk", ".{jars}"]').run.argv == ("awk", ".")


def test_links_lead_to_the_toolchains_unless_the_caller_brings_the_name() -> None:
    row = 'links = { node_modules = "{toolchains}/node/node_modules" }'
    assert awk(row).links == (("node_modules", "/t/node/node_modules"),)
    for name in ("node_modules/x.js", "./node_modules", "/w/node_modules/x.js"):
        assert awk(row, files=(File(name, b""),)).links == ()


def test_a_file_of_the_caller_replaces_an_asset() -> None:
    made = awk('assets = ["a.cfg"]', files=(File("a.cfg", b"theirs"),))
    assert [(file.name, file.content) for file in made.files][:2] == [("a.cfg", b"ours"), ("a.cfg", b"theirs")]
