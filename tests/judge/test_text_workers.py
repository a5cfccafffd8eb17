"""Long texts are worked on in another process, within a time; what comes of them is the same."""

from __future__ import annotations

import json
import os
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from sandbox_runtime.benchmarks.registry import datasets, samples_folder
from sandbox_runtime.errors import InvalidRequest, PlatformFault
from sandbox_runtime.judge.text_workers import LONG_CHARACTERS, SHORT_CHARACTERS, TextWorkers, _pickle_request
from sandbox_runtime.model.judge import Completion, Dataset, Options, Row

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def workers() -> AsyncIterator[TextWorkers]:
    async with TextWorkers(max_processes=1) as opened:
        yield opened


async def test_short_texts_stay_here_and_long_ones_go_to_a_process_that_is_kept(workers: TextWorkers) -> None:
    assert await workers.run(SHORT_CHARACTERS - 1, os.getpid) == os.getpid()
    assert await workers.run(SHORT_CHARACTERS, os.getpid) == os.getpid()
    elsewhere = await workers.run(LONG_CHARACTERS, os.getpid)
    assert elsewhere != os.getpid() and await workers.run(LONG_CHARACTERS, os.getpid) == elsewhere


async def test_what_the_function_raises_is_raised_here(workers: TextWorkers) -> None:
    with pytest.raises(ZeroDivisionError):
        await workers.run(LONG_CHARACTERS, divmod, 1, 0)


async def test_a_function_that_cannot_be_sent_runs_in_a_thread(workers: TextWorkers) -> None:
    assert await workers.run(LONG_CHARACTERS, lambda: os.getpid()) == os.getpid()


async def test_a_text_that_takes_too_long_is_given_up_and_its_process_ended() -> None:
    async with TextWorkers(max_processes=1, timeout_s=3.0) as workers:
        first = await workers.run(LONG_CHARACTERS, os.getpid)
        with pytest.raises(InvalidRequest, match="shorter"):
            await workers.run(LONG_CHARACTERS, time.sleep, 600)
        assert not Path(f"/proc/{first}").exists()
        assert await workers.run(LONG_CHARACTERS, abs, -1) == 1


async def test_a_process_that_dies_is_a_fault_of_ours_and_another_takes_over(workers: TextWorkers) -> None:
    with pytest.raises(PlatformFault):
        await workers.run(LONG_CHARACTERS, os._exit, 1)
    assert await workers.run(LONG_CHARACTERS, abs, -1) == 1


@pytest.mark.parametrize("dataset", datasets(), ids=lambda dataset: str(dataset.id))
async def test_completions_of_every_benchmark_are_read_the_same_there(workers: TextWorkers, dataset: Dataset) -> None:
    row = _sample(dataset)
    for text, options in dataset.benchmark.reference(row, Options(dataset.id, language="python")):  # type: ignore[misc]
        arguments = (row, Completion(text), options)
        here = dataset.benchmark.trial(*arguments)
        assert _pickle_request(dataset.benchmark.trial, arguments) is not None  # or it would run in a thread
        assert await workers.run(LONG_CHARACTERS, dataset.benchmark.trial, *arguments) == here


def _sample(dataset: Dataset) -> Row:
    for table in (dataset.table, *dataset.other_tables):
        path = Path(samples_folder()) / f"{table}.jsonl"
        if path.exists():
            with path.open(encoding="utf-8") as lines:
                return dict(json.loads(next(lines)))
    pytest.skip(f"there is no sample of {dataset.id}")
