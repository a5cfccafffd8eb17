"""Whether a dataset accepts its own reference solutions: rows and rules that do not are no measure of anything."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

from sandbox_runtime.errors import RequestError
from sandbox_runtime.judge.judge import MAX_ROWS, Judge
from sandbox_runtime.judge.rows.port import NAME_COLUMNS
from sandbox_runtime.model import Dataset, Options, Row


@dataclass(frozen=True, slots=True)
class Reference:
    """A completion that must be accepted."""

    row: Row
    called: str
    completion: str
    options: Options


@dataclass(frozen=True, slots=True)
class NoReference:
    """A row that has no reference solution, or none that can be asked for."""

    called: str
    reason: str


async def references(
    judge: Judge, dataset: Dataset, options: Options, limit: int = MAX_ROWS
) -> AsyncIterator[Reference | NoReference]:
    """Of every row, in the order of their ids; a row may have several."""
    async for row in judge.rows(dataset, 0, limit):
        for one in _row_references(dataset, row, options):
            yield one


def _row_references(dataset: Dataset, row: Row, options: Options) -> tuple[Reference | NoReference, ...]:
    called = next((str(row[name]) for name in NAME_COLUMNS if row.get(name) is not None), "?")
    asked = dataset.benchmark.reference
    if asked is None:
        return (NoReference(called, "this kind of dataset has no reference solutions"),)
    try:
        found = asked(row, options)
    except RequestError as error:
        return (NoReference(called, str(error)),)
    return tuple(Reference(row, called, *one) for one in found) or (NoReference(called, "the row has no reference solution"),)
