"""Values of rows: JSON columns, and rows sent with the request."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.model.judge import Row


def json_column(row: Row, column: str) -> Any:
    """Return the value of the column; a text is parsed as JSON, because database tables cannot hold objects otherwise.

    Raises InvalidRequest if the column is missing or its text is not JSON.
    """
    if column not in row:
        raise InvalidRequest(f"the row has no column {column!r}; it has {', '.join(map(repr, list(row)[:30]))}")
    value = row[column]
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError) as error:
        raise InvalidRequest(f"the text in column {column!r} of the row is not JSON: {error}") from error


def provided_rows(value: Any) -> tuple[Row, ...]:
    if not isinstance(value, Sequence) or isinstance(value, str) or not all(isinstance(row, Mapping) for row in value):
        raise InvalidRequest("provided_data must be a list of rows in requests that list prompts or ids")
    return tuple(value)


def provided_row(value: Any) -> Row:
    if not isinstance(value, Mapping):
        raise InvalidRequest("provided_data must be one row (an object) in requests for one problem")
    return value
