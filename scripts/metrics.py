"""Print the shape of the code base: sizes, names, imports, tests. Each figure stands beside its target.

    python scripts/metrics.py            a table
    python scripts/metrics.py --json     the figures as JSON
    python scripts/metrics.py --list     also the names behind the figures that miss their targets

Programs that are data (attacks, tricks, programs of languages) are not counted. Exit status 1 if a target is missed.
"""

from __future__ import annotations

import ast
import json
import re
import statistics
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "sandbox_runtime"
TESTS = ROOT / "tests"
_DATA = ("/attacks/", "/programs/", "/tricks/", "/honest/")
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_BLOCKS = (ast.If, ast.For, ast.While, ast.Try, ast.With, ast.AsyncFor, ast.AsyncWith, ast.Match)
_BRANCHES = (
    ast.If,
    ast.For,
    ast.While,
    ast.ExceptHandler,
    ast.AsyncFor,
    ast.IfExp,
    ast.BoolOp,
    ast.comprehension,
    ast.match_case,
)
GERUNDS_ALLOWED = {"staging", "listing", "setting", "settings", "mapping", "mappings", "keyring", "string"}
"""Nouns of the field that end in -ing."""
_VAGUE = {"util", "utils", "helper", "helpers", "common", "misc", "manager", "stuff", "core", "base", "lib"}


@dataclass(frozen=True)
class Module:
    path: Path
    text: str = field(repr=False)

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @property
    def lines(self) -> int:
        return self.text.count("\n")

    def functions(self) -> Iterator[_Function]:
        return (node for node in ast.walk(self.tree) if isinstance(node, _FUNCTIONS))

    def classes(self) -> Iterator[ast.ClassDef]:
        return (node for node in ast.walk(self.tree) if isinstance(node, ast.ClassDef))

    @property
    def dotted(self) -> str:
        parts = self.path.relative_to(SOURCE.parent).with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@dataclass(frozen=True)
class Figure:
    name: str
    value: Any
    target: str
    met: bool | None = None
    """None: printed for information."""
    names: tuple[str, ...] = ()


def modules(folder: Path) -> list[Module]:
    paths = sorted(path for path in folder.rglob("*.py") if not any(part in path.as_posix() for part in _DATA))
    return [Module(path, path.read_text(encoding="utf-8")) for path in paths]


def percentile(values: Iterable[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0


def spread(values: Iterable[int]) -> tuple[int, int, int]:
    """Return the median, the 95th percentile and the maximum."""
    ordered = list(values) or [0]
    return int(statistics.median(ordered)), int(percentile(ordered, 0.95)), max(ordered)


def code_lines(function: _Function) -> int:
    """Return the lines of a function without its docstring."""
    docstring = ast.get_docstring(function, clean=False)
    return (function.end_lineno or function.lineno) - function.lineno + 1 - (docstring.count("\n") + 1 if docstring else 0)


def nesting(node: ast.AST, depth: int = 0) -> int:
    below = [depth]
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (*_FUNCTIONS, ast.ClassDef, ast.Lambda)):
            below.append(nesting(child, depth + isinstance(child, _BLOCKS)))
    return max(below)


def branches(function: _Function) -> int:
    return 1 + sum(isinstance(node, _BRANCHES) for node in ast.walk(function))


def parameters(function: _Function) -> list[ast.arg]:
    every = function.args
    return [one for one in (*every.posonlyargs, *every.args, *every.kwonlyargs) if one.arg not in ("self", "cls")]


def is_annotated(function: _Function) -> bool:
    return function.returns is not None and all(one.annotation for one in parameters(function))


def methods(cls: ast.ClassDef) -> int:
    return sum(isinstance(node, _FUNCTIONS) for node in cls.body)


class ImportGraph:
    """Imports at module level, between modules of the package."""

    def __init__(self, sources: list[Module]) -> None:
        self._packages = {module.dotted for module in sources if module.path.name == "__init__.py"}
        self._names = {module.dotted for module in sources}
        self.edges = {module.dotted: self._imports(module) for module in sources}

    def _imports(self, module: Module) -> set[str]:
        found = {self._known(name) for name in self._named(module.tree.body, module.dotted)}
        return {name for name in found if name} - {module.dotted}

    def _named(self, body: list[ast.stmt], own: str) -> Iterator[str]:
        for node in body:
            if (isinstance(node, ast.If) and "TYPE_CHECKING" not in ast.unparse(node.test)) or isinstance(node, ast.Try):
                yield from self._named([*node.body, *node.orelse], own)
            elif isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                base = self._base(node, own)
                yield from (f"{base}.{alias.name}" for alias in node.names)

    def _base(self, node: ast.ImportFrom, own: str) -> str:
        if not node.level:
            return node.module or ""
        parts = own.split(".")
        parts = parts[: len(parts) - node.level + (own in self._packages)]
        return ".".join([*parts, node.module] if node.module else parts)

    def _known(self, name: str) -> str:
        while name and name not in self._names:
            name = name.rpartition(".")[0]
        return name

    def components(self) -> list[list[str]]:
        """Return the strongly connected components (Tarjan): those of more than one module are import cycles."""
        index: dict[str, int] = {}
        low: dict[str, int] = {}
        stack: list[str] = []
        found: list[list[str]] = []

        def visit(name: str) -> None:
            index[name] = low[name] = len(index)
            stack.append(name)
            for other in self.edges[name]:
                if other not in index:
                    visit(other)
                if other in stack:
                    low[name] = min(low[name], low[other])
            if low[name] == index[name]:
                start = stack.index(name)
                found.append(stack[start:])
                del stack[start:]

        for name in self.edges:
            if name not in index:
                visit(name)
        return found

    def longest_chain(self) -> list[str]:
        best: dict[str, list[str]] = {}

        def chain(name: str) -> list[str]:
            if name not in best:
                best[name] = [name]
                best[name] = [name, *max((chain(other) for other in self.edges[name]), key=len, default=[])]
            return best[name]

        return max((chain(name) for name in self.edges), key=len)


def gerund_modules(sources: list[Module]) -> list[str]:
    return [module.dotted for module in sources if module.path.stem.endswith("ing") and not _is_allowed(module.path.stem)]


def _is_allowed(stem: str) -> bool:
    return stem in GERUNDS_ALLOWED or stem.rpartition("_")[2] in GERUNDS_ALLOWED


def repeated(names: Iterable[tuple[str, str]], least: int) -> tuple[str, ...]:
    """Return the names that occur in at least so many different places, with their number."""
    places: dict[str, set[str]] = defaultdict(set)
    for name, place in names:
        places[name].add(place)
    return tuple(f"{name} x{len(where)}" for name, where in sorted(places.items()) if len(where) >= least)


def language_literals(sources: list[Module], languages: frozenset[str]) -> list[str]:
    """Return where a literal holds four or more names of languages."""
    found = []
    for module in sources:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.List | ast.Tuple | ast.Set | ast.Dict):
                values = node.keys if isinstance(node, ast.Dict) else node.elts
                named = {value.value for value in values if isinstance(value, ast.Constant) and isinstance(value.value, str)}
                if len(named & languages) >= 4:
                    found.append(f"{module.path.relative_to(SOURCE)}:{node.lineno}")
    return found


def catalog_names() -> frozenset[str]:
    return frozenset(path.stem for path in (SOURCE / "languages" / "catalog").glob("*.toml"))


def count(sources: list[Module], pattern: str) -> int:
    return sum(len(re.findall(pattern, module.text, re.MULTILINE)) for module in sources)


def _at_most(name: str, value: float, bound: float, names: Iterable[str] = ()) -> Figure:
    return Figure(name, value, f"≤ {bound:g}", value <= bound, tuple(names))


def size_figures(sources: list[Module]) -> Iterator[Figure]:
    functions = [function for module in sources for function in module.functions()]
    yield Figure("modules / lines", f"{len(sources)} / {sum(module.lines for module in sources)}", "-")
    files = spread(module.lines for module in sources)
    yield Figure(
        "file lines: median / p95 / max", "{} / {} / {}".format(*files), "100 / ≤350 / 500", files[1] <= 350 and files[2] <= 500
    )
    sizes = spread(code_lines(function) for function in functions)
    long = 100 * sum(code_lines(function) > 50 for function in functions) / len(functions)
    yield Figure(
        "function code lines: median / p95 / max", "{} / {} / {}".format(*sizes), "≤8 / ≤35", sizes[0] <= 8 and sizes[1] <= 35
    )
    yield _at_most("functions over 50 code lines, %", round(long, 2), 0.5)
    yield _at_most("nesting p95", percentile(map(nesting, functions), 0.95), 3)
    yield _at_most("branches p95", percentile(map(branches, functions), 0.95), 8)
    yield _at_most("parameters p95", percentile((len(parameters(function)) for function in functions), 0.95), 5)
    classes = sorted(((methods(cls), cls.name) for module in sources for cls in module.classes()), reverse=True)
    yield _at_most("largest class, methods", classes[0][0], 35, (f"{name} {number}" for number, name in classes[:8]))
    annotated = 100 * sum(map(is_annotated, functions)) / len(functions)
    yield Figure("fully annotated functions, %", round(annotated), "100", round(annotated) == 100)


def import_figures(sources: list[Module]) -> Iterator[Figure]:
    graph = ImportGraph(sources)
    largest = max(map(len, graph.components()))
    yield _at_most("largest import cycle (1 is none)", largest, 1)
    chain = graph.longest_chain()
    yield _at_most("longest import chain", len(chain), 30, chain)
    depth = max(module.dotted.count(".") for module in sources)
    yield _at_most("package depth", depth, 5)


def name_figures(sources: list[Module]) -> Iterator[Figure]:
    plain = [module for module in sources if module.path.name != "__init__.py"]
    gerunds = gerund_modules(plain)
    yield _at_most("gerund module names", len(gerunds), 0, gerunds)
    vague = [module.dotted for module in plain if module.path.stem in _VAGUE]
    yield _at_most("vague module names", len(vague), 0, vague)
    files = [(module.path.name, str(module.path.parent)) for module in plain]
    yield Figure("file names in ≥ 2 folders", len(repeated(files, 2)), "-", None, repeated(files, 2))
    yield Figure("file names in ≥ 4 folders", len(repeated(files, 4)), "-", None, repeated(files, 4))
    classes = [(cls.name, module.dotted) for module in sources for cls in module.classes()]
    often = [name for name in repeated(classes, 3) if not name.startswith("_")]
    yield _at_most("class names defined ≥ 3 times", len(often), 10, often)
    literals = language_literals(sources, catalog_names())
    yield Figure("literals of ≥ 4 language names", len(literals), "protocol constants only", None, tuple(literals))


def habit_figures(sources: list[Module]) -> Iterator[Figure]:
    thousands = sum(module.lines for module in sources) / 1000
    documented = sum(ast.get_docstring(module.tree) is not None for module in sources)
    yield Figure("modules with a docstring, %", round(100 * documented / len(sources)), "100", documented == len(sources))
    yield _at_most("type ignores per 1,000 lines", round(count(sources, r"#\s*type:\s*ignore") / thousands, 2), 1)
    yield _at_most("noqa per 1,000 lines", round(count(sources, r"#\s*noqa") / thousands, 2), 0.2)
    yield _at_most("broad excepts per 1,000 lines", round(count(sources, r"except\s+(?:Base)?Exception\b") / thousands, 2), 1.5)
    yield _at_most("bare excepts, globals, TODOs", count(sources, r"except\s*:|^\s+global\s+\w|\b(?:TODO|FIXME)\b"), 0)


def test_figures(sources: list[Module]) -> Iterator[Figure]:
    tests = modules(TESTS)
    functions = [function for module in tests for function in module.functions() if function.name.startswith("test")]
    ratio = sum(module.lines for module in tests) / sum(module.lines for module in sources)
    yield Figure("tests", len(functions), "-")
    yield Figure("test lines : source lines", round(ratio, 2), "≥ 0.55", ratio >= 0.55)
    yield _at_most(
        "files with mocks",
        sum(
            bool(re.search(r"^\s*(?:from|import) (?:unittest\.)?mock\b|^from unittest import mock", m.text, re.M)) for m in tests
        ),
        0,
    )
    sleeping = [str(module.path.relative_to(TESTS)) for module in tests if any(map(_sleeps, ast.walk(module.tree)))]
    yield Figure("test files that sleep", len(sleeping), "-", None, tuple(sleeping))
    borrowed = [
        str(module.path.relative_to(TESTS))
        for module in tests
        if re.search(r"^from tests\.[\w.]*\.test_\w+ import", module.text, re.M)
    ]
    yield _at_most("tests that import another test module", len(borrowed), 0, borrowed)


def _sleeps(node: ast.AST) -> bool:
    """Whether this is a call of sleep for longer than nothing."""
    if not isinstance(node, ast.Call) or ast.unparse(node.func) not in ("asyncio.sleep", "time.sleep", "anyio.sleep"):
        return False
    return not (node.args and isinstance(node.args[0], ast.Constant) and node.args[0].value == 0)


GROUPS: tuple[Callable[[list[Module]], Iterator[Figure]], ...] = (
    size_figures,
    import_figures,
    name_figures,
    habit_figures,
    test_figures,
)


def main(arguments: list[str]) -> int:
    sys.setrecursionlimit(20_000)
    sources = modules(SOURCE)
    figures = [figure for group in GROUPS for figure in group(sources)]
    if "--json" in arguments:
        print(json.dumps({figure.name: figure.value for figure in figures}, indent=1, ensure_ascii=False))
    else:
        for figure in figures:
            mark = {None: " ", True: "✔", False: "✘"}[figure.met]
            print(f"{mark} {figure.name:<42} {figure.value!s:>18}   {figure.target}")
            if "--list" in arguments and figure.met is not True:
                print("".join(f"      {name}\n" for name in figure.names), end="")
    return int(any(figure.met is False for figure in figures))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
