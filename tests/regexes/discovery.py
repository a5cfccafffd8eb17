"""Every regular expression of the package: those of `re.` calls, read from the sources, and those that modules hold."""

from __future__ import annotations

import ast
import contextlib
import importlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import sandbox_runtime

ROOT = Path(sandbox_runtime.__file__).parent
SEARCHES = frozenset({"search", "finditer", "findall", "sub", "subn", "split"})
ANCHORED = frozenset({"match", "fullmatch"})
_CALLS = SEARCHES | ANCHORED | {"compile"}
_FLAGS_AT = {"sub": 4, "subn": 4, "split": 3}
_SAMPLE_WORD = "ab"
"""Stands for what an f-string of a pattern takes from a caller."""


@dataclass(frozen=True, slots=True)
class Used:
    """A pattern, and whether it is only ever matched at the beginning of a text."""

    where: str
    pattern: re.Pattern[Any]
    methods: frozenset[str]


@dataclass(frozen=True, slots=True)
class Unknown:
    """A call whose pattern is a value of the running program."""

    where: str
    written: str


Supplied = Mapping[str, Callable[[], list[re.Pattern[Any]]]]
Elsewhere = Mapping[str, frozenset[str]]


def module_names() -> list[str]:
    paths = sorted(ROOT.rglob("*.py"))
    return [_module_name(path) for path in paths if path.name != "__main__.py" and "migrations/versions" not in str(path)]


def patterns(supplied: Supplied, elsewhere: Elsewhere) -> tuple[list[Used], list[Unknown]]:
    """Return all patterns, and the calls that neither the source nor `supplied` (by module and function) explains.

    elsewhere: how patterns are used that other modules apply.
    """
    found: dict[tuple[Any, int, frozenset[str]], Used] = {}
    unknown = []
    for name in module_names():
        for one in _of_module(name, supplied, elsewhere):
            if isinstance(one, Unknown):
                unknown.append(one)
            else:
                found.setdefault((one.pattern.pattern, one.pattern.flags, one.methods), one)
    return list(found.values()), unknown


def _of_module(name: str, supplied: Supplied, elsewhere: Elsewhere) -> Iterator[Used | Unknown]:
    source = _path(name).read_text(encoding="utf-8")
    tree = ast.parse(source)
    if not any(isinstance(node, ast.Import) and any(alias.name == "re" for alias in node.names) for node in ast.walk(tree)):
        return
    module = _loaded(name, tree)
    methods, held = _methods_of_names(tree), set()
    for called, value in vars(module).items():
        for pattern in _held(value):
            held.add(pattern)
            yield Used(f"{name}.{called}", pattern, methods.get(called, elsewhere.get(f"{name}.{called}", SEARCHES | ANCHORED)))
    for keyword in _guards(tree):
        with contextlib.suppress(NameError, AttributeError, TypeError, KeyError):
            written = _value(module, _FilledIn(module).visit(keyword))
            yield Used(f"{name}:{keyword.lineno}", re.compile(written), frozenset({"search"}))
    for call, function in _calls(tree):
        for one in _of_call(module, call, f"{name}.{function}", supplied):
            if not (isinstance(one, Used) and one.pattern in held and not function):
                yield one


def _loaded(name: str, tree: ast.Module) -> ModuleType:
    """The module, or its plain constants where it runs in boxes alone and cannot be imported here."""
    try:
        return importlib.import_module(name)
    except ImportError:
        module = ModuleType(name)
        vars(module)["re"] = re
        for node in tree.body:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                with contextlib.suppress(Exception):
                    vars(module)[node.targets[0].id] = _value(module, node.value)
        return module


def _of_call(
    module: ModuleType,
    call: ast.Call,
    where: str,
    supplied: Supplied,
) -> Iterator[Used | Unknown]:
    assert isinstance(call.func, ast.Attribute)
    method = call.func.attr
    used = frozenset({method}) if method != "compile" else SEARCHES | ANCHORED
    if where in supplied:
        yield from (Used(where, pattern, used) for pattern in supplied[where]())
        return
    try:
        yield Used(f"{where}:{call.lineno}", _evaluated(module, call, method), used)
    except (NameError, AttributeError, TypeError, re.error):
        if not (method == "compile" and where.endswith(".")):  # of a module: its value was found among what the module holds
            yield Unknown(where, ast.unparse(call))


def _evaluated(module: ModuleType, call: ast.Call, method: str) -> re.Pattern[Any]:
    written = call.args[0]
    if isinstance(written, ast.Name) and not hasattr(module, written.id):
        raise NameError(written.id)
    pattern = _value(module, _FilledIn(module).visit(written))
    flags = 0
    for keyword in call.keywords:
        flags |= _value(module, keyword.value) if keyword.arg == "flags" else 0
    at = _FLAGS_AT.get(method, 1 if method == "compile" else 2)
    if len(call.args) > at:
        flags |= _value(module, call.args[at])
    return re.compile(pattern, flags)


def _value(module: ModuleType, node: ast.expr) -> Any:
    expression = ast.fix_missing_locations(ast.Expression(node))
    return eval(compile(expression, "<pattern>", "eval"), dict(vars(module)))


class _FilledIn(ast.NodeTransformer):
    """Holes of f-strings that the module alone cannot fill hold a plain word."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.AST:
        try:
            _value(self._module, node.value)
        except Exception:
            return ast.Constant(_SAMPLE_WORD)
        return node


def _calls(tree: ast.Module) -> Iterator[tuple[ast.Call, str]]:
    """Each `re.` call, with the name of the outermost function or class that it stands in (empty: the module itself)."""
    for top in tree.body:
        name = top.name if isinstance(top, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) else ""
        for node in ast.walk(top):
            if isinstance(node, ast.Call) and _is_call_of_re(node.func):
                yield node, name


def _is_call_of_re(function: ast.expr) -> bool:
    return (
        isinstance(function, ast.Attribute)
        and function.attr in _CALLS
        and isinstance(function.value, ast.Name)
        and function.value.id == "re"
    )


def _guards(tree: ast.Module) -> Iterator[ast.expr]:
    """What benchmarks name as must_match and must_not_match. Names of parameters only pass on what others named."""
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg in ("must_match", "must_not_match"):
            yield node.value.body if isinstance(node.value, ast.IfExp) else node.value


def _methods_of_names(tree: ast.Module) -> dict[str, frozenset[str]]:
    """Which methods a module calls on its private names; what others may use counts as searched."""
    found: dict[str, set[str]] = {}
    seen: dict[str, int] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            seen[node.id] = seen.get(node.id, 0) + 1
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr in SEARCHES | ANCHORED:
            found.setdefault(node.value.id, set()).add(node.attr)
            seen[node.value.id] = seen.get(node.value.id, 0) - 1
    return {name: frozenset(used) for name, used in found.items() if name.startswith("_") and not seen.get(name)}


def _held(value: Any, depth: int = 4) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif depth and isinstance(value, Mapping):
        for one in value.values():
            yield from _held(one, depth - 1)
    elif depth and isinstance(value, list | tuple | set | frozenset):
        for one in value:
            yield from _held(one, depth - 1)
    elif depth and is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from _held(getattr(value, field.name), depth - 1)


def _module_name(path: Path) -> str:
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _path(name: str) -> Path:
    path = ROOT.parent.joinpath(*name.split("."))
    return path.with_suffix(".py") if path.with_suffix(".py").exists() else path / "__init__.py"
