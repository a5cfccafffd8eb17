from __future__ import annotations

from pathlib import Path

import pytest

from sandbox_runtime.doctor import Family, Guard, load_corpus
from sandbox_runtime.doctor.corpus import CORPUS, SCENARIOS, read_attack
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.model import Layer

TITLE = 'title = "Tries."\nfamily = "host"\n'


def folder(tmp_path: Path, text: str, **programs: str) -> Path:
    (tmp_path / "attack.toml").write_text(text)
    for name, code in programs.items():
        (tmp_path / f"{name}.py").write_text(code)
    return tmp_path


def test_the_corpus_has_attacks_of_every_scene_and_on_every_layer() -> None:
    corpus = load_corpus()
    assert len(corpus) >= 180
    assert {one.scenario for one in corpus} == set(SCENARIOS)
    assert {layer for one in corpus for layer in one.layers} == set(Layer)


def test_every_layer_has_a_quick_attack_that_shows_what_it_does_on_every_host() -> None:
    assert {layer for one in load_corpus() if one.quick and not one.unless for layer in one.shows} == set(Layer)


def test_every_layer_guard_and_family_is_told_in_the_concepts() -> None:
    text = (Path(__file__).parents[2] / "docs" / "concepts" / "isolation.md").read_text()
    assert [name for name in (*Layer, *Guard, *Family) if f"| `{name}` |" not in text] == []


def test_every_attack_names_what_it_tests_and_every_guard_and_family_has_attacks() -> None:
    corpus = load_corpus()
    assert [one.name for one in corpus if not one.layers and not one.guards] == []
    assert {guard for one in corpus for guard in one.guards} == set(Guard)
    assert {one.family for one in corpus} == set(Family)


def test_every_folder_of_the_corpus_is_an_attack_and_holds_nothing_else() -> None:
    roles = ("program", "first", "second", "client")
    known = {"attack.toml", *(f"{role}{suffix}" for role in roles for suffix in (".py", ".sh"))}
    names = {one.name for one in load_corpus()}
    for path in CORPUS.iterdir():
        assert path.name in names
        assert {entry.name for entry in path.iterdir() if entry.name != "__pycache__"} <= known


def test_titles_are_sentences_of_their_own() -> None:
    titles = [one.title for one in load_corpus()]
    assert len(set(titles)) == len(titles)
    assert all(title.endswith(".") for title in titles)


def test_every_python_program_can_be_compiled() -> None:
    for one in load_corpus():
        for program in one.programs.values():
            if program.name.endswith(".py"):
                compile(program.content, f"{one.name}/{program.name}", "exec")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("layers = []", "title"),
        (TITLE, "layers"),
        (TITLE + 'layers = ["walls"]', "walls"),
        (TITLE + 'layers = []\nneeds = ["luck"]', "luck"),
        (TITLE + "layers = []\ncolour = 1", "colour"),
        (TITLE + 'layers = []\nendings = ["well"]', "well"),
        (TITLE + 'layers = []\nshows = ["user"]', "shows"),
        (TITLE + 'guards = ["walls"]', "walls"),
        (TITLE + 'layers = ["user"]\nshows = ["keys"]', "shows"),
        (TITLE + 'layers = ["user"]\nkeys = ["master"]', "master"),
        (TITLE + "layers = []", "guards"),
        ('title = "Tries."\nlayers = ["user"]\nfamily = "cats"', "cats"),
        (TITLE + 'guards = ["keys"]\nscenario = "client"', "client"),
        (TITLE + 'guards = ["keys"]\nscenario = "files"\n[[step]]\ndo = "burn"', "burn"),
        (TITLE + 'layers = []\nscenario = "beside"', "first, second"),
        (TITLE + 'layers = []\nscenario = "opera"', "opera"),
        (TITLE + 'layers = []\nscenario = "upload"', "no names"),
        (TITLE + "layers = []\n[limits]\nwall_s = -1", "wall_s"),
        (TITLE + "layers = []\n[policy]\nnetwork = 1", "disk_bytes"),
        ("title = ", "attack.toml|Invalid"),
    ],
)
def test_an_attack_that_is_not_as_it_should_be_is_told_by_name(tmp_path: Path, text: str, complaint: str) -> None:
    with pytest.raises(InvalidRequest, match=tmp_path.name) as raised:
        read_attack(folder(tmp_path, text, program="pass"))
    assert any(word in str(raised.value) for word in complaint.split("|"))


def test_a_folder_without_attacks_is_no_corpus(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match="no attacks"):
        load_corpus(tmp_path)
