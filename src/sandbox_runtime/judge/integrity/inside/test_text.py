"""The tests' text as a syntax tree: what has to be read from it, and what has to change.

Tests of a solution that gives a builtin another meaning: `all`, `abs` and their kind mean Python's own around what is tested.

Called with plain values only, such a name may be the very function under test.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Set as AbstractSet
from types import CodeType
from typing import Any

_PREFIX = "_sandbox_real_"
_RECORD_METHODS = frozenset(("__init__", "__repr__", "__str__", "__eq__", "__lt__", "__hash__"))


def without_shadows(names: dict[str, Any], entry: str) -> dict[str, Any]:
    """The names of a solution without those of builtins, but for the function under test. entry: its name, where it is known;
    else it is the only function of the solution that the tests use."""
    own = {name for name in names if not hasattr(builtins, name)}
    is_tested = callable(names.get(entry)) if entry else not any(callable(names[name]) for name in own)
    return {name: value for name, value in names.items() if name in own or name == entry or (is_tested and not entry)}


def with_real_builtins(text: str, filename: str, flags: int, shadowed: AbstractSet[str], names: dict[str, Any]) -> CodeType:
    """The code of the tests. names: their namespace, which gets the real builtins under names of ours."""
    tree = _RealBuiltins(shadowed).visit(ast.parse(text, filename))
    names.update({f"{_PREFIX}{name}": getattr(builtins, name) for name in shadowed})
    code: CodeType = compile(tree, filename, "exec", flags=flags, dont_inherit=True)
    return code


def class_sources(text: str) -> dict[str, str]:
    """The sources of the records that tests define: nodes of lists and trees, without a method that computes anything."""
    return {node.name: ast.unparse(node) for node in ast.parse(text).body if isinstance(node, ast.ClassDef) and _is_record(node)}


def _is_record(node: ast.ClassDef) -> bool:
    methods = [one for one in node.body if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return not any(isinstance(one, ast.Assert) for one in ast.walk(node)) and all(one.name in _RECORD_METHODS for one in methods)


class _RealBuiltins(ast.NodeTransformer):
    def __init__(self, shadowed: AbstractSet[str]) -> None:
        self._shadowed = shadowed

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        function = node.func
        if isinstance(function, ast.Name) and function.id in self._shadowed and any(map(_contains_tested_value, node.args)):
            node.func = ast.copy_location(ast.Name(f"{_PREFIX}{function.id}", ast.Load()), function)
        return node


def _contains_tested_value(node: ast.expr) -> bool:
    """Whether it compares, or calls what is no builtin."""
    return any(
        isinstance(one, ast.Compare)
        or (isinstance(one, ast.Call) and not (isinstance(one.func, ast.Name) and hasattr(builtins, one.func.id)))
        for one in ast.walk(node)
    )
