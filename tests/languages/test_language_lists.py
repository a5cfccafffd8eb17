"""Facts of a language belong to its file in the catalog. Other modules list languages only as protocol or dataset constants."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import sandbox_runtime
from sandbox_runtime.languages import load_catalog

SOURCES = Path(sandbox_runtime.__file__).parent
MIN_NAMES = 4
OTHER_NAMES = frozenset(("javascript", "kotlin", "html", "D"))
"""Names of languages that run under another name of the catalog, or not at all."""

ALLOWED = frozenset(
    (
        # Enumerations and parameters of public protocols.
        "api/dialects/fusion/schemas/programs.py",
        "mcp/config/model.py",
        "mcp/tools/arguments.py",
        "sdk/execution_models.py",
        # Languages, spellings and formats of datasets.
        "benchmarks/aider_polyglot.py",
        "benchmarks/common_oj.py",
        "benchmarks/cruxeval/examples.py",
        "benchmarks/cruxeval/multilingual.py",
        "benchmarks/functions/languages.py",
        "benchmarks/humaneval_x.py",
        "benchmarks/importers/cruxeval_x.py",
        "benchmarks/importers/mxeval.py",
        # Registries of Python functions by language.
        "judge/extraction/trim.py",
        "judge/integrity/assertions.py",
        "judge/integrity/exit_proof/registry.py",
        # Sent into boxes as text, where there is no catalog.
        "judge/extraction/languages.py",
        # Facts of languages that still have to move into the catalog.
        "languages/detection.py",
        "languages/packages/package_managers.py",
        "languages/packages/launch_script.py",
        "mcp/resources/starters.py",
        "mcp/tools/build_commands.py",
        "mcp/tools/code.py",
        "mcp/tools/languages.py",
        "mcp/tools/programs.py",
        "mcp/tools/run.py",
    )
)


def test_languages_are_listed_in_the_catalog_only() -> None:
    names = language_names()
    listing = {path for path, tree in modules() if lists_languages(tree, names)}
    assert not listing - ALLOWED, "move these facts of languages into languages/catalog/*.toml"


def test_a_list_of_four_languages_is_found() -> None:
    names = language_names()
    assert lists_languages(ast.parse('RUNS = {"python": 1, "go": 2, "rust": 3, "java": 4}'), names)
    assert not lists_languages(ast.parse('RUNS = ("python", "go", "rust")'), names)


def language_names() -> frozenset[str]:
    """Names and aliases of two letters or more: single letters are too common in other lists."""
    known = {name for language in load_catalog("") for name in (language.name, *language.aliases)}
    return frozenset(name for name in known | OTHER_NAMES if len(name) > 1)


def modules() -> Iterator[tuple[str, ast.Module]]:
    for path in SOURCES.rglob("*.py"):
        yield path.relative_to(SOURCES).as_posix(), ast.parse(path.read_text(encoding="utf-8"))


def lists_languages(tree: ast.Module, names: frozenset[str]) -> bool:
    return any(len(names & set(strings(node))) >= MIN_NAMES for node in ast.walk(tree))


def strings(node: ast.AST) -> Iterator[str]:
    """Yield the texts of a list, tuple or set, or the keys of a dict, those of nested literals included."""
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        items: list[ast.expr | None] = [*node.elts]
    elif isinstance(node, ast.Dict):
        items = [*node.keys]
    else:
        return
    for item in items:
        if isinstance(item, ast.Constant) and isinstance(item.value, str):
            yield item.value
        elif item is not None:
            yield from strings(item)
