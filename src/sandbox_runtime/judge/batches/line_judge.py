"""Judge one completion of a batch, with retries after platform faults."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from sandbox_runtime.errors import PlatformFault, RequestError, TooMany, Unavailable
from sandbox_runtime.judge.batches.config import LineConfig, read_config
from sandbox_runtime.judge.batches.jsonl import BatchLine, LineResult, refused_line, to_line_result
from sandbox_runtime.judge.metrics import groups_of
from sandbox_runtime.model import Blame, Reason, Verdict

if TYPE_CHECKING:
    from sandbox_runtime.judge.judge import Judge

LineJudge = Callable[[BatchLine, LineConfig], Awaitable[tuple[Verdict, Mapping[str, str]]]]
"""(completion, options) → the verdict, and the groups of its problem."""
MAX_ROUNDS = 5
FIRST_WAIT_S, MAX_WAIT_S = 0.5, 30.0


def make_line_judge(judge: Judge) -> LineJudge:
    async def judge_one(line: BatchLine, config: LineConfig) -> tuple[Verdict, Mapping[str, str]]:
        options = config.options
        dataset = judge.dataset(options.dataset, config.dataset_type)
        row = await judge.row(dataset, line.id, config.row)
        trial = await judge.trial(dataset, row, line.completion, options, config.extract)
        return await judge.judge(trial, dataset.id), groups_of(row, options.language)

    return judge_one


async def judge_line(judge: LineJudge, number: int, line: BatchLine, config: Callable[[], LineConfig]) -> LineResult:
    """Judge one line. config: returns its options; invalid options give a refused result."""
    wait_s = FIRST_WAIT_S
    result = await _judge_once(judge, number, line, config)
    for _ in range(MAX_ROUNDS - 1):
        if _is_final(result):
            break
        await asyncio.sleep(wait_s)
        wait_s = min(2 * wait_s, MAX_WAIT_S)
        result = await _judge_once(judge, number, line, config)
    return result


async def _judge_once(judge: LineJudge, number: int, line: BatchLine, config: Callable[[], LineConfig]) -> LineResult:
    start_s = time.monotonic()
    try:
        verdict, groups = await judge(line, config())
    except (TooMany, Unavailable, PlatformFault) as error:
        verdict, groups = Verdict(False, Reason.not_judged, Blame.platform, message=str(error)), {}
    except RequestError as error:
        return refused_line(number, line, str(error))
    return to_line_result(number, line, verdict, groups, time.monotonic() - start_s)


def _is_final(result: LineResult) -> bool:
    """Whether the platform is not to blame."""
    return result.reason is not Reason.not_judged or result.fields["blame"] != Blame.platform


async def judge_lines(
    judge: LineJudge, dataset: str, config: Mapping[str, object], lines: Iterable[tuple[int, BatchLine]], parallel: int
) -> AsyncIterator[LineResult]:
    """Judge lines without files or a store, up to `parallel` concurrently, and yield results as they complete.

    Closing the iterator early cancels running lines.
    """
    waiting = iter(lines)
    running: set[asyncio.Task[LineResult]] = set()
    try:
        while True:
            while len(running) < parallel and (numbered := next(waiting, None)) is not None:
                running.add(asyncio.create_task(_judge_with_config(judge, dataset, config, *numbered)))
            if not running:
                return
            done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                yield task.result()
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


async def _judge_with_config(
    judge: LineJudge, dataset: str, config: Mapping[str, object], number: int, line: BatchLine
) -> LineResult:
    return await judge_line(judge, number, line, lambda: read_config(dataset, config, line.config))
