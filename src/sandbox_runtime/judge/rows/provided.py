"""Rows that come with the request: many where many are asked for, one where one is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.model.judge import Row


def provided_rows(given: Any) -> tuple[Row, ...]:
    if not isinstance(given, Sequence) or isinstance(given, str) or not all(isinstance(row, Mapping) for row in given):
        raise InvalidRequest("provided_data must be a list of rows where prompts or ids are listed")
    return tuple(given)


def provided_row(given: Any) -> Row:
    if not isinstance(given, Mapping):
        raise InvalidRequest("provided_data must be one row, an object, where one problem is asked for or judged")
    return given
