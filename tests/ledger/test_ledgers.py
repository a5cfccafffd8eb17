"""The ledgers of requirements and the tests that carry their ids: either side missing is a failure."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).parent.parent
LEDGERS = sorted(Path(__file__).parent.glob("*.toml"))
STATES = ("held", "open", "differs")


@cache
def rows() -> dict[str, dict[str, Any]]:
    return {name: row for ledger in LEDGERS for name, row in tomllib.loads(ledger.read_text()).items()}


@cache
def carried() -> dict[str, list[str]]:
    """Id → the tests that carry it, read from their source: nothing is collected or imported."""
    found: dict[str, list[str]] = {}
    for path in sorted(TESTS.rglob("test_*.py")):
        for test, name in _marks(ast.parse(path.read_text(encoding="utf-8"))):
            found.setdefault(name, []).append(f"{path.relative_to(TESTS)}::{test}")
    return found


def _marks(module: ast.Module) -> Iterator[tuple[str, str]]:
    for node in module.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            for decorator in node.decorator_list:
                yield from ((node.name, name) for name in _ids(decorator))


def _ids(decorator: ast.expr) -> Iterator[str]:
    """Also those of single cases: pytest.param(…, marks=pytest.mark.requirement(…))."""
    for node in ast.walk(decorator):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.requirement":
            yield from (ast.literal_eval(argument) for argument in node.args)


@pytest.mark.parametrize("ledger", LEDGERS, ids=lambda path: path.stem)
def test_every_row_says_what_is_asked_and_how_it_stands(ledger: Path) -> None:
    for name, row in tomllib.loads(ledger.read_text()).items():
        assert re.fullmatch(rf"{ledger.stem}-\d+\.\d\d", name), name
        assert row["text"] and row["state"] in STATES, name
        assert ("why" in row) is (row["state"] != "held"), f"{name}: why belongs to what is not held"


def test_every_requirement_that_is_held_has_its_test() -> None:
    missing = sorted(name for name, row in rows().items() if row["state"] == "held" and name not in carried())
    assert not missing, f"no test carries {', '.join(missing)}"


def test_every_test_that_carries_an_id_finds_it_in_a_ledger() -> None:
    unknown = {name: tests for name, tests in carried().items() if name not in rows()}
    assert not unknown


def test_what_is_proven_is_not_called_open() -> None:
    proven = {name: carried()[name] for name, row in rows().items() if row["state"] == "open" and name in carried()}
    assert not proven, "these are held now"


def test_requirements_are_carried_by_functions_alone() -> None:
    """The marker anywhere else would not be seen here."""
    for path in sorted(TESTS.rglob("test_*.py")):
        text = path.read_text(encoding="utf-8")
        seen = len(list(_marks(ast.parse(text)))) > 0
        assert seen or path == Path(__file__) or "mark.requirement" not in text, path
