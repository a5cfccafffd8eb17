"""Values of rows that may be JSON or a text that holds JSON: tables of databases have no other way to carry an object."""

from __future__ import annotations

import json
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
