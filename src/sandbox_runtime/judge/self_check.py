"""Check that a dataset accepts its own reference solutions."""

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
    row_id: str
    completion: str
    options: Options


@dataclass(frozen=True, slots=True)
class NoReference:
    """A row without a usable reference solution."""

    row_id: str
    reason: str


async def references(
    judge: Judge, dataset: Dataset, options: Options, limit: int = MAX_ROWS
) -> AsyncIterator[Reference | NoReference]:
    """Yield the references of every row, in the order of row ids. A row may have several."""
    async for row in judge.rows(dataset, 0, limit):
        for reference in _row_references(dataset, row, options):
            yield reference


def _row_references(dataset: Dataset, row: Row, options: Options) -> tuple[Reference | NoReference, ...]:
    row_id = next((str(row[name]) for name in NAME_COLUMNS if row.get(name) is not None), "?")
    make_references = dataset.benchmark.reference
    if make_references is None:
        return (NoReference(row_id, "this kind of dataset has no reference solutions"),)
    try:
        completions = make_references(row, options)
    except RequestError as error:
        return (NoReference(row_id, str(error)),)
    references = tuple(Reference(row, row_id, *completion) for completion in completions)
    return references or (NoReference(row_id, "the row has no reference solution"),)
