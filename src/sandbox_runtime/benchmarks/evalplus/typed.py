"""Values that lost their types in JSON get them back from examples: tuples and sets became lists there, and keys became texts."""

from __future__ import annotations

import ast
from typing import Any

_Kind = type[list[Any]] | type[tuple[Any, ...]] | type[set[Any]]


def literal_calls(assertions: str, name: str) -> list[list[Any]]:
    """The arguments of each call of the function in these assertions, where they are literals."""
    try:
        tree = ast.parse(assertions)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name))
    return [arguments for call in calls if _function_name(call) == name and (arguments := _literal_arguments(call)) is not None]


def _function_name(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _literal_arguments(call: ast.Call) -> list[Any] | None:
    try:
        return [ast.literal_eval(argument) for argument in call.args]
    except (ValueError, TypeError, RecursionError):
        return None


def restore_types(value: Any, examples: list[Any], usual: _Kind = list) -> Any:
    """The value in the type that all examples have, as far as it can be; inner values likewise. usual: the type of a list that
    no example is there for, which is that of the one around it."""
    if isinstance(value, list):
        held = [example for example in examples if isinstance(example, list | tuple | set)]
        kind = _common_type(held) if held else usual
        inner = [element for example in held for element in example]
        return kind([restore_types(element, inner, tuple if kind is set else kind) for element in value])
    if isinstance(value, dict):
        known = [example for example in examples if isinstance(example, dict)]
        keys, values = [key for one in known for key in one], [held for one in known for held in one.values()]
        return {_restore_key(key, keys): restore_types(held, values) for key, held in value.items()}
    return _parse_complex(value) if isinstance(value, str) and examples and all(map(_is_number, examples)) else value


def _common_type(examples: list[Any]) -> _Kind:
    kinds: tuple[_Kind, ...] = (tuple, set)
    return next((kind for kind in kinds if all(isinstance(example, kind) for example in examples)), list)


def _restore_key(key: str, examples: list[Any]) -> Any:
    whole = bool(examples) and all(isinstance(example, int) for example in examples)
    return int(key) if whole and key.lstrip("-").isdigit() else key


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | complex)


def _parse_complex(text: str) -> Any:
    """Complex numbers are texts in JSON."""
    try:
        return complex(text)
    except ValueError:
        return text
