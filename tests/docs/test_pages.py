"""Pages compared with the code and with each other: rooms, files, settings, commands, links."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
import typer

from sandbox_runtime.cli.main import build
from sandbox_runtime.settings import aliases, all_settings, environment_name

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
SOURCE = ROOT / "src" / "sandbox_runtime"
ARCHITECTURE = (DOCS / "architecture.md").read_text(encoding="utf-8")
FRONT = ("README.md", "README_zh.md", "CONTRIBUTING.md", "CHANGELOG.md")
PAGES = sorted([*DOCS.rglob("*.md"), *(ROOT / name for name in FRONT)])
_LINK = re.compile(r"\]\(([^)\s#]+)(#[^)\s]*)?\)")
_FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def page_id(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def rooms() -> list[str]:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["id"] == "layers")
    return [name.strip(" ()") for layer in layers for name in re.split(r"[|:]", layer)]


def links(path: Path) -> set[str]:
    text = _FENCED.sub("", path.read_text(encoding="utf-8"))
    return {target for target, _ in _LINK.findall(text) if not re.match(r"\w+:", target)}


@pytest.mark.parametrize("path", PAGES, ids=page_id)
def test_every_link_leads_to_a_file(path: Path) -> None:
    missing = [target for target in links(path) if not (path.parent / target).exists()]
    assert not missing


def test_the_index_names_every_page() -> None:
    indexed = {(DOCS / target).resolve() for target in links(DOCS / "README.md")}
    pages = {path for path in DOCS.rglob("*.md") if path.name != "README.md"}
    assert not sorted(map(page_id, pages - indexed))


def test_the_room_table_and_the_picture_name_the_rooms_of_the_import_contract() -> None:
    table = ARCHITECTURE.split("## Rooms")[1].split("## Processes")[0]
    assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == rooms()
    picture = (DOCS / "pictures" / "rooms.svg").read_text(encoding="utf-8")
    assert re.findall(r'class="name"[^>]*>(\w+)<', picture) == rooms()


def test_every_file_that_the_architecture_page_names_exists() -> None:
    named = re.findall(r"`((?:src/sandbox_runtime/)?[a-z_]+/[a-z_/]+(?:\.py)?)`", ARCHITECTURE)
    assert len(named) > 30
    assert not [name for name in named if not (SOURCE / name.removeprefix("src/sandbox_runtime/")).exists()]


def test_every_setting_that_the_architecture_page_names_exists() -> None:
    table = ARCHITECTURE.split("## Where state lives")[1].split("## Glossary")[0]
    named = re.findall(r"`([a-z0-9]+(?:_[a-z0-9]+)+)`", table)
    assert named and not [name for name in named if name not in all_settings()]


def test_every_environment_variable_of_the_pages_is_one_of_a_setting() -> None:
    known = {*map(environment_name, all_settings()), "SANDBOX_CONFIG", "SANDBOX_SETTINGS", "SANDBOX_TESTED_LANGUAGES"}
    known |= {word for word in re.findall(r"SANDBOX_[A-Z0-9_]+", Path(aliases.__file__).read_text())}
    text = "".join(path.read_text(encoding="utf-8") for path in PAGES)
    others = set(re.findall(r"\bSANDBOX_[A-Z0-9]+(?:_[A-Z0-9]+)*\b", text)) - known
    source = "".join(path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py") if "/attacks/" not in str(path))
    assert not [name for name in others if name not in source]


@pytest.mark.parametrize("path", PAGES, ids=page_id)
def test_every_command_of_the_pages_exists(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    named = re.findall(
        r"(?:^|[`/\s(])sandbox ([a-z]+)(?=[\s`])", "\n".join(re.findall(r"`[^`\n]+`|```(?:sh|console)\n.*?```", text, re.DOTALL))
    )
    assert not sorted(set(named) - set(typer.main.get_command(build()).commands))


def test_the_chinese_readme_has_the_same_shape() -> None:
    english, chinese = ((ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "README_zh.md"))

    def code(text: str) -> list[str]:
        return [re.sub(r"#.*", "", block) for block in _FENCED.findall(text)]

    assert code(chinese) == code(english)
    assert links(ROOT / "README_zh.md") ^ links(ROOT / "README.md") == {"README.md", "README_zh.md"}
    assert chinese.count("\n## ") == english.count("\n## ") and chinese.count("\n|") == english.count("\n|")
