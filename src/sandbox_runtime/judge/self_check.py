"""Whether a dataset accepts its own reference solutions: rows and rules that do not are no measure of anything."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

from sandbox_runtime.errors import RequestError
from sandbox_runtime.judge.judge import MOST_ROWS, Judge
from sandbox_runtime.judge.rows.port import NAMES
from sandbox_runtime.model import Dataset, Options, Row


@dataclass(frozen=True, slots=True)
class Reference:
    """A completion that must be accepted."""

    row: Row
    called: str
    completion: str
    options: Options


@dataclass(frozen=True, slots=True)
class Missing:
    """A row that has no reference solution, or none that can be asked for."""

    called: str
    reason: str


async def references(
    judge: Judge, dataset: Dataset, options: Options, limit: int = MOST_ROWS
) -> AsyncIterator[Reference | Missing]:
    """Of every row, in the order of their ids; a row may have several."""
    async for row in judge.rows(dataset, 0, limit):
        for one in _of_row(dataset, row, options):
            yield one


def _of_row(dataset: Dataset, row: Row, options: Options) -> tuple[Reference | Missing, ...]:
    called = next((str(row[name]) for name in NAMES if row.get(name) is not None), "?")
    asked = dataset.benchmark.reference
    if asked is None:
        return (Missing(called, "this kind of dataset has no reference solutions"),)
    try:
        found = asked(row, options)
    except RequestError as error:
        return (Missing(called, str(error)),)
    return tuple(Reference(row, called, *one) for one in found) or (Missing(called, "the row has no reference solution"),)
