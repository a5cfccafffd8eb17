"""The judge's interface for callers: datasets, their prompts, and verdicts of completions."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.judge.custom_extraction import extract_custom_blocks
from sandbox_runtime.judge.rows import RowId, Rows, provided_row, provided_rows
from sandbox_runtime.judge.text_workers import TextWorkers
from sandbox_runtime.model import Benchmark, Completion, Dataset, Options, Prompt, Row, Trial, Verdict

if TYPE_CHECKING:
    from sandbox_runtime.judge.judge_loop import Loop

MAX_ROWS = 1_000_000
_ROWS_PER_CHUNK = 32
MAX_COMPLETION_BYTES = 1024 * 1024


class Judge:
    """Prompts and verdicts of registered datasets and of rows sent with a request.

    datasets: in the order in which they are listed.
    classes: benchmarks by class name, for datasets that are not registered.
    table: maps the name of an unregistered dataset to its table.
    workers: process long completions.
    max_completion_bytes: longer completions are refused.
    """

    def __init__(
        self,
        loop: Loop,
        datasets: Sequence[Dataset],
        classes: Mapping[str, Benchmark],
        rows: Rows,
        table: Callable[[str], str],
        workers: TextWorkers,
        max_completion_bytes: int = MAX_COMPLETION_BYTES,
    ) -> None:
        self._loop = loop
        self._datasets = {dataset.id: dataset for dataset in datasets}
        self._classes = classes
        self._rows = rows
        self._table = table
        self._workers = workers
        self._max_completion_bytes = max_completion_bytes

    def datasets(self) -> list[str]:
        return list(self._datasets)

    def dataset(self, name: str, dataset_type: str | None = None) -> Dataset:
        """Return the registered dataset, or one of the class `dataset_type`. Raises InvalidRequest if there is neither."""
        if (dataset := self._datasets.get(name)) is not None:
            return dataset
        if dataset_type is None:
            raise InvalidRequest(f"no eval class found for dataset {name[:200]}: name its class as config.dataset_type")
        if (benchmark := self._classes.get(dataset_type)) is None:
            raise InvalidRequest(f"eval class {dataset_type[:200]} not found")
        return Dataset(name, benchmark, self._table(name))

    async def prompts(
        self,
        name: str,
        options: Options,
        offset: int = 0,
        limit: int = MAX_ROWS,
        *,
        provided: object = None,
        dataset_type: str | None = None,
    ) -> list[Prompt]:
        """Return the prompts of a page of rows. If rows have several prompts, all first prompts precede all second ones."""
        dataset = self.dataset(name, dataset_type)
        rounds: list[list[Prompt]] = []
        rows = _iterate(provided_rows(provided)) if provided is not None else self._rows.page(dataset, offset, limit)
        async for chunk in _in_chunks(rows):
            for prompts in await asyncio.to_thread(_make_prompts, dataset.benchmark, chunk, options):
                _add_to_rounds(rounds, prompts)
        return [prompt for prompts in rounds for prompt in prompts]

    async def prompt(
        self, name: str, row_id: RowId, options: Options, *, provided: object = None, dataset_type: str | None = None
    ) -> Prompt:
        dataset = self.dataset(name, dataset_type)
        row = await self.row(dataset, row_id, provided)
        return dataset.benchmark.prompts(row, options)[-1]

    async def submit(
        self,
        name: str,
        row_id: RowId,
        completion: str,
        options: Options,
        *,
        extract: str | None = None,
        provided: object = None,
        dataset_type: str | None = None,
    ) -> Verdict:
        """Judge a completion.

        extract: extraction code of the caller, run in a box.
        provided: the row, if it is sent with the request.
        """
        dataset = self.dataset(name, dataset_type)
        row = await self.row(dataset, row_id, provided)
        trial = await self.trial(dataset, row, completion, options, extract)
        verdict = await self._loop.judge(trial, dataset.id)
        return _with_extra(dataset.benchmark, row, verdict)

    async def row(self, dataset: Dataset, row_id: RowId, provided: object = None) -> Row:
        if provided is not None:
            return provided_row(provided)
        return await self._loop.with_retries(lambda: self._rows.get(dataset, row_id))

    def rows(self, dataset: Dataset, offset: int = 0, limit: int = MAX_ROWS) -> AsyncIterator[Row]:
        """Yield rows in the order of their ids."""
        return self._rows.page(dataset, offset, limit)

    async def trial(self, dataset: Dataset, row: Row, text: str, options: Options, extract: str | None = None) -> Trial:
        """Turn a completion into a trial. Raises InvalidRequest if it is longer than allowed."""
        self._check_length(text)
        blocks = await extract_custom_blocks(self._loop.run, extract, text) if extract else ()
        arguments = (row, Completion(text, blocks), options)
        return await self._workers.run(len(text) + _row_length(row), dataset.benchmark.trial, *arguments)

    def _check_length(self, text: str) -> None:
        max_bytes = self._max_completion_bytes
        size = len(text) if text.isascii() else len(text.encode(errors="surrogatepass"))
        if size > max_bytes:
            raise InvalidRequest(
                f"the completion has {size:,} bytes; at most {max_bytes:,} are allowed: shorten it, or raise "
                "max_completion_bytes (SANDBOX_MAX_COMPLETION_BYTES)"
            )

    async def judge(self, trial: Trial, dataset: str = "") -> Verdict:
        """Judge a prepared trial. dataset: its label in the metrics."""
        return await self._loop.judge(trial, dataset)


async def _iterate(rows: Sequence[Row]) -> AsyncIterator[Row]:
    for row in rows:
        yield row


async def _in_chunks(rows: AsyncIterator[Row]) -> AsyncIterator[list[Row]]:
    """Group rows, so that the prompts of a large dataset are made in short steps."""
    chunk: list[Row] = []
    async for row in rows:
        chunk.append(row)
        if len(chunk) == _ROWS_PER_CHUNK:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def _make_prompts(benchmark: Benchmark, rows: Sequence[Row], options: Options) -> list[tuple[Prompt, ...]]:
    return [benchmark.prompts(row, options) for row in rows]


def _add_to_rounds(rounds: list[list[Prompt]], prompts: Sequence[Prompt]) -> None:
    for number, prompt in enumerate(prompts):
        if number == len(rounds):
            rounds.append([])
        rounds[number].append(prompt)


def _with_extra(benchmark: Benchmark, row: Row, verdict: Verdict) -> Verdict:
    if benchmark.extra is None:
        return verdict
    return dataclasses.replace(verdict, extra={**verdict.extra, **benchmark.extra(row, verdict)})


def _row_length(row: Row) -> int:
    return sum(len(value) for value in row.values() if isinstance(value, str | list))
