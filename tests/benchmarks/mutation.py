"""Mutants: a program with one operator or one constant changed. Most are wrong, and a judge that accepts a wrong one is none."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator

_OPERATORS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.And: ast.Or,
    ast.Or: ast.And,
}


def mutants(code: str) -> Iterator[str]:
    """Each with one change, in the order of the code."""
    tree = ast.parse(code)
    for place, node in enumerate(ast.walk(tree)):
        if _changed(node) is not None:
            yield _mutant(tree, place)


def _mutant(tree: ast.Module, place: int) -> str:
    changed = copy.deepcopy(tree)
    target = next(node for number, node in enumerate(ast.walk(changed)) if number == place)
    new = _changed(target)
    assert new is not None
    for parent in ast.walk(changed):
        for name, held in ast.iter_fields(parent):
            if held is target:
                setattr(parent, name, new)
            elif isinstance(held, list) and any(each is target for each in held):
                setattr(parent, name, [new if each is target else each for each in held])
    return ast.unparse(ast.fix_missing_locations(changed))


def _changed(node: ast.AST) -> ast.AST | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        return ast.Constant(not node.value)
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return ast.Constant(node.value + 1)
    new = _OPERATORS.get(type(node))
    return new() if new else None
