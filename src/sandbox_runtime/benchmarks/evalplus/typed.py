"""Values that lost their types in JSON get them back from examples: tuples and sets became lists there, and keys became texts."""

from __future__ import annotations

import ast
from typing import Any


def called_with(assertions: str, name: str) -> list[list[Any]]:
    """The arguments of each call of the function in these assertions, where they are literals."""
    try:
        tree = ast.parse(assertions)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name))
    return [arguments for call in calls if _named(call) == name and (arguments := _literals(call)) is not None]


def _named(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _literals(call: ast.Call) -> list[Any] | None:
    try:
        return [ast.literal_eval(argument) for argument in call.args]
    except (ValueError, TypeError, RecursionError):
        return None


def like(value: Any, examples: list[Any]) -> Any:
    """The value in the type that all examples have, as far as it can be; inner values likewise."""
    if isinstance(value, list):
        inner = [element for example in examples if isinstance(example, list | tuple | set) for element in example]
        return _kind(examples)([like(element, inner) for element in value])
    if isinstance(value, dict):
        known = [example for example in examples if isinstance(example, dict)]
        keys, values = [key for one in known for key in one], [held for one in known for held in one.values()]
        return {_key(key, keys): like(held, values) for key, held in value.items()}
    return value


def _kind(examples: list[Any]) -> type[list[Any]] | type[tuple[Any, ...]] | type[set[Any]]:
    for kind in (tuple, set):
        if examples and all(isinstance(example, kind) for example in examples):
            return kind
    return list


def _key(key: str, examples: list[Any]) -> Any:
    whole = bool(examples) and all(isinstance(example, int) for example in examples)
    return int(key) if whole and key.lstrip("-").isdigit() else key
