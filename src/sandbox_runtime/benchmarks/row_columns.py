"""Reading the columns of a row: values that may be JSON text, names that differ between forms, words for what is missing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.judge.rows.values import json_column
from sandbox_runtime.model.judge import Row

_ID_COLUMNS = ("id", "task_id", "name", "question_id")


def row_id(row: Row) -> int | str:
    for name in _ID_COLUMNS:
        value = row.get(name)
        if isinstance(value, int | str):
            return value
    raise InvalidRequest(f"the row has no id: one of the columns {', '.join(_ID_COLUMNS)} must be a number or a text")


def text(row: Row, *names: str) -> str:
    """The first of these columns that there is; it must be a text."""
    found = optional_text(row, *names)
    if found is None:
        raise InvalidRequest(f"the row has no text in {_any_of(names)}")
    return found


def optional_text(row: Row, *names: str) -> str | None:
    for name in names:
        value = row.get(name)
        if value is None:
            continue
        if not isinstance(value, str):
            raise InvalidRequest(f"the column {name!r} must be a text, not {type(value).__name__}")
        return value
    return None


def optional_json(row: Row, name: str) -> Any:
    """The value of a column, out of its JSON text where it is one; None where the column is missing."""
    return json_column(row, name) if name in row else None


def mapping(row: Row, name: str) -> Mapping[str, Any]:
    """A column that holds an object; empty where it is missing or empty."""
    value = {} if row.get(name) in (None, "") else optional_json(row, name)
    if not isinstance(value, Mapping):
        raise InvalidRequest(f"the column {name!r} must be an object, not {type(value).__name__}")
    return value


def texts(row: Row, name: str) -> tuple[str, ...]:
    """A column that holds a list of texts; empty where it is missing or empty."""
    value = [] if row.get(name) in (None, "") else optional_json(row, name)
    if not isinstance(value, list | tuple) or not all(isinstance(each, str) for each in value):
        raise InvalidRequest(f"the column {name!r} must be a list of texts")
    return tuple(value)


def labels_of(row: Row) -> Mapping[str, Any]:
    return mapping(row, "labels")


def _any_of(names: tuple[str, ...]) -> str:
    return " or ".join(repr(name) for name in names)
