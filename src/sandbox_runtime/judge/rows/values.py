"""Values of rows: JSON columns, and rows sent with the request."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.model.judge import Row


def json_column(row: Row, column: str) -> Any:
    """The value of the column; where it is a text, what the text says."""
    if column not in row:
        raise InvalidRequest(f"the row has no column {column!r}; it has {', '.join(map(repr, list(row)[:30]))}")
    value = row[column]
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError) as error:
        raise InvalidRequest(f"the column {column!r} of the row is a text that is not JSON: {error}") from error


def provided_rows(given: Any) -> tuple[Row, ...]:
    if not isinstance(given, Sequence) or isinstance(given, str) or not all(isinstance(row, Mapping) for row in given):
        raise InvalidRequest("provided_data must be a list of rows where prompts or ids are listed")
    return tuple(given)


def provided_row(given: Any) -> Row:
    if not isinstance(given, Mapping):
        raise InvalidRequest("provided_data must be one row, an object, where one problem is asked for or judged")
    return given
