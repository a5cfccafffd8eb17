"""Answers in Python: read as Python, so that what is asserted is what the model said and nothing that hides behind an operator.

`assert <answer> == f(…)` with the answer `True or 1`, or `1, 2`, would hold for any function: the answer is one expression, taken
from its place in the syntax tree.
"""

from __future__ import annotations

import ast

from sandbox_runtime.benchmarks.cruxeval.modes import INPUT, OUTPUT

FUNCTION = "f"
_FUNCTION_NAMES = (FUNCTION, "candidate")
"""The function's own, and the one that checks in other forms give it."""
_MAX_CHARACTERS = 100_000
_FORBIDDEN_NAMES = frozenset(
    (
        *("eval", "exec", "compile", "globals", "locals", "vars", "getattr", "setattr", "delattr", "object", "super", "open"),
        *("input", "breakpoint", "exit", "quit", "dir", "help"),
    )
)
_TYPE = "type"


class InvalidAnswer(Exception):
    """What was written is no answer; its text says why."""


class ForbiddenAnswer(InvalidAnswer):
    """The answer has the computer find out what it was asked."""


def parse_answer(written: str, mode: str) -> str:
    """The expression that answers: in mode input a call of f, in mode output a value; as Python would write it."""
    try:
        node = _answer(_parse(written, mode), mode)
        _check(node, mode)
        return ast.unparse(node)
    except (RecursionError, MemoryError) as error:
        raise InvalidAnswer("the answer is nested too deeply") from error


def _parse(written: str, mode: str) -> ast.Module:
    if len(written) > _MAX_CHARACTERS:
        raise InvalidAnswer(f"the answer has more than {_MAX_CHARACTERS} characters")
    for text in (written, _side(written, mode)):
        try:
            return ast.parse(text)
        except (SyntaxError, ValueError):
            continue
    raise InvalidAnswer("the answer is no Python expression")


def _side(written: str, mode: str) -> str:
    """By the characters, where the whole cannot be read: one side of the assertion."""
    left, equals, right = written.removeprefix("assert").partition("==")
    return right.strip() if mode == OUTPUT and equals else left.strip()


def _answer(tree: ast.Module, mode: str) -> ast.expr:
    asserted = [statement.test for statement in tree.body if isinstance(statement, ast.Assert)]
    told = [statement.value for statement in tree.body if isinstance(statement, ast.Expr)]
    if not asserted and len(tree.body) != 1:
        raise InvalidAnswer("the answer is not one expression")
    for found in (*asserted, *told):
        return _answer_side(found, mode)
    raise InvalidAnswer("the answer is no expression")


def _answer_side(node: ast.expr, mode: str) -> ast.expr:
    """Of an equation with a call of f: the call, or what it is said to be."""
    if not isinstance(node, ast.Compare) or len(node.ops) != 1 or not isinstance(node.ops[0], ast.Eq):
        return node
    left, right = node.left, node.comparators[0]
    if not _is_call(left) and _is_call(right):
        left, right = right, left
    return left if mode == INPUT else right


def _is_call(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == FUNCTION


def _check(node: ast.expr, mode: str) -> None:
    if mode == INPUT and not _is_call(node):
        raise InvalidAnswer(f"the answer must be a call {FUNCTION}(…)")
    spared = node.func if mode == INPUT and isinstance(node, ast.Call) else None
    for inner in ast.walk(node):
        if inner is not spared:
            _check_inner(inner, mode)


def _check_inner(node: ast.AST, mode: str) -> None:
    if isinstance(node, ast.Name) and node.id in _FUNCTION_NAMES and mode == OUTPUT:
        raise ForbiddenAnswer("the answer calls the function instead of telling what it gives")
    if isinstance(node, ast.Name) and (node.id in _FORBIDDEN_NAMES or node.id.startswith("__")):
        raise ForbiddenAnswer(f"the answer uses {node.id}, which no value needs")
    if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
        raise ForbiddenAnswer(f"the answer uses {node.attr}, which no value needs")
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == _TYPE and len(node.args) != 1:
        raise ForbiddenAnswer("the answer makes a type of its own")
    if isinstance(node, ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom):
        raise InvalidAnswer("the answer is not a plain value")
