"""The catalog: built-in languages, and the operator's own on top."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.languages.language_file import GOOD

from sandbox_runtime.errors import InvalidRequest, NotFound
from sandbox_runtime.languages import load_catalog

OWN = (
    GOOD.replace('name = "awk"', 'name = "own"')
    .replace('["gawk"]', '["ours"]')
    .replace('extensions = ["awk"]', 'extensions = ["own"]')
)


PROGRAMS = Path(__file__).parent / "programs"
OF_THE_PROTOCOL = (
    "python cpp nodejs go go_test java php csharp bash typescript sql rust cuda lua R perl D_ut ruby scala julia pytest junit "
    "kotlin_script jest verilog python_gpu lean swift racket"
)
BEYOND_IT = "c zig haskell ocaml elixir erlang nim clojure groovy fortran pascal prolog tcl octave awk cobol"


@pytest.mark.parametrize("name", [*OF_THE_PROTOCOL.split(), *BEYOND_IT.split()])
def test_the_language_has_its_row(name: str) -> None:
    assert load_catalog().find(name).name == name


@pytest.mark.parametrize("name", [language.name for language in load_catalog() if language.group != "gpu"])
def test_the_language_has_its_test_programs(name: str) -> None:
    """Also those that cannot be had here: whoever has the toolchain can test it."""
    there = {path.stem for path in (PROGRAMS / name).glob("*")}
    assert {"syntax_error", "runtime_error", "endless", "big_output", "files"} <= there


def test_a_language_comes_after_those_it_stands_on() -> None:
    catalog = load_catalog()
    chosen = [language.name for language in catalog.with_dependencies([catalog.find("jest"), catalog.find("nodejs")])]
    assert chosen == ["nodejs", "jest"]


def test_languages_cannot_stand_on_one_another_in_a_circle(tmp_path: Path) -> None:
    for name, base in (("oak", "elm"), ("elm", "oak")):
        row = (
            OWN.replace('name = "own"', f'name = "{name}"').replace('["ours"]', f'["{name}en"]').replace('["own"]', f'["{name}"]')
        )
        (tmp_path / f"{name}.toml").write_text(row.replace("[check]", f'[install]\non = ["{base}"]\n\n[check]'))
    catalog = load_catalog(str(tmp_path))
    with pytest.raises(InvalidRequest, match="circle"):
        catalog.with_dependencies([catalog.find("oak")])


@pytest.mark.parametrize(("name", "found"), [("python", "python"), ("py", "python"), ("c++", "cpp"), ("sh", "bash")])
def test_a_language_is_found_by_name_and_alias(name: str, found: str) -> None:
    assert load_catalog().find(name).name == found


@pytest.mark.parametrize(("path", "found"), [("a/b.py", "python"), ("x.tar.cc", "cpp"), ("run.sh", "bash")])
def test_a_language_is_found_by_extension(path: str, found: str) -> None:
    assert load_catalog().find_by_extension(path).name == found


@pytest.mark.parametrize("path", ["README", "x.unknown", ".py"])
def test_a_file_without_a_known_extension_is_not_guessed(path: str) -> None:
    with pytest.raises(NotFound, match="known extensions"):
        load_catalog().find_by_extension(path)


def test_an_unknown_language_is_told_what_there_is() -> None:
    with pytest.raises(NotFound, match=r"bash, .*cpp, .*python"):
        load_catalog().find("klingon")


def test_the_operators_folder_adds_a_language(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(OWN)
    (tmp_path / "notes.txt").write_text("not a language")
    assert load_catalog(str(tmp_path)).find("ours").name == "own"


def test_the_operators_folder_replaces_a_language(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(OWN.replace('name = "own"', 'name = "bash"'))
    assert load_catalog(str(tmp_path)).find("bash").run.argv[0] == "awk"


@pytest.mark.parametrize(
    ("old", "new"), [('aliases = ["ours"]', 'aliases = ["py"]'), ('extensions = ["own"]', 'extensions = ["cpp"]')]
)
def test_two_languages_cannot_share_an_alias_or_an_extension(tmp_path: Path, old: str, new: str) -> None:
    (tmp_path / "own.toml").write_text(OWN.replace(old, new))
    with pytest.raises(InvalidRequest, match=r"own\.toml: .* already belongs to"):
        load_catalog(str(tmp_path))


def test_a_missing_folder_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="not a folder"):
        load_catalog("/nonexistent")


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(InvalidRequest, match="cannot be read"):
        load_catalog(str(tmp_path))
