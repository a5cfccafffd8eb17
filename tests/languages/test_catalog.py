"""The catalog: built-in languages, and the operator's own on top."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.languages.test_reader import GOOD

from sandbox_runtime.errors import InvalidRequest, NotFound
from sandbox_runtime.languages import load_catalog

OWN = (
    GOOD.replace('name = "awk"', 'name = "own"')
    .replace('["gawk"]', '["ours"]')
    .replace('extensions = ["awk"]', 'extensions = ["own"]')
)


def test_the_built_in_languages_are_there() -> None:
    assert {"python", "bash", "cpp"} <= {language.name for language in load_catalog()}


@pytest.mark.parametrize(("name", "found"), [("python", "python"), ("py", "python"), ("c++", "cpp"), ("sh", "bash")])
def test_a_language_is_found_by_name_and_alias(name: str, found: str) -> None:
    assert load_catalog().find(name).name == found


@pytest.mark.parametrize(("path", "found"), [("a/b.py", "python"), ("x.tar.cc", "cpp"), ("run.sh", "bash")])
def test_a_language_is_found_by_extension(path: str, found: str) -> None:
    assert load_catalog().of_file(path).name == found


@pytest.mark.parametrize("path", ["README", "x.unknown", ".py"])
def test_a_file_without_a_known_extension_is_not_guessed(path: str) -> None:
    with pytest.raises(NotFound, match="known extensions"):
        load_catalog().of_file(path)


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
