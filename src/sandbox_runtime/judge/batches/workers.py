"""Workers that judge the completions of all batches, and their handling of platform faults.

Theory of operation. There are `parallel` workers. Each takes the next batch from the fair queue, judges its next line and appends
the result to the batch's file. The row in the store follows at most once a second, after the file has been synced to disk. After
a platform fault, or if a result cannot be written, the worker retries the line with growing delays; only after several rounds
the line becomes `not_judged`. Killing this process loses no result: lines without one are judged again at the next start.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import Self

from sandbox_runtime import timestamps
from sandbox_runtime.errors import Conflict, NotFound, PlatformFault, SandboxError, Unavailable
from sandbox_runtime.judge.batches.fair_queue import FairQueue
from sandbox_runtime.judge.batches.jsonl import BatchLine, LineResult
from sandbox_runtime.judge.batches.line_judge import FIRST_WAIT_S, MAX_WAIT_S, LineJudge, judge_line
from sandbox_runtime.judge.batches.progress import BatchProgress
from sandbox_runtime.judge.batches.spool import Spool
from sandbox_runtime.model import Batch, BatchState
from sandbox_runtime.store import Store
from sandbox_runtime.telemetry import Log

_STORE_INTERVAL_S = 1.0


class BatchWorkers:
    def __init__(self, store: Store, judge: LineJudge, parallel: int, log: Log) -> None:
        self._store = store
        self._judge = judge
        self._parallel = parallel
        self._log = log
        self._running: dict[str, BatchProgress] = {}
        self._queue: FairQueue[BatchProgress] = FairQueue()
        self._added = asyncio.Condition()
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        self._tasks = [asyncio.create_task(self._work()) for _ in range(self._parallel)]
        self._tasks.append(asyncio.create_task(self._store_periodically()))
        return self

    async def __aexit__(self, *_error: object) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for progress in list(self._running.values()):
            with contextlib.suppress(SandboxError):
                await self._store_progress(progress)
            progress.close()
        self._running.clear()

    def find(self, name: str) -> BatchProgress | None:
        return self._running.get(name)

    async def add(self, batch: Batch, spool: Spool) -> None:
        try:
            if not spool.complete:
                raise PlatformFault("the completions of this batch are missing on disk: send it again with another key")
            progress = await BatchProgress.resume(batch, spool, json.loads(batch.config_json or "{}"))
        except (PlatformFault, OSError) as error:
            self._log.error("a batch cannot go on", batch=batch.id, reason=str(error))
            spool.remove_input()
            await self._store.batches.update(batch, state=BatchState.failed, message=str(error), ended_ms=timestamps.now_ms())
            return
        self._running[batch.id] = progress
        if progress.exhausted:
            await self._finish(progress)
            return
        self._queue.add(batch.owner, progress)
        async with self._added:
            self._added.notify_all()

    async def drop(self, ended: Batch) -> None:
        """Stop a batch that was ended by a caller. When this returns, its running lines are cancelled and their boxes closed."""
        progress = self._running.get(ended.id)
        if progress is None:
            return
        progress.set_stored(ended)
        self._queue.remove(ended.owner, progress)
        tasks = list(progress.running)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._close(progress)

    # Workers.

    async def _work(self) -> None:
        while True:
            progress = await self._next()
            try:
                await self._judge_next_line(progress)
            except PlatformFault as error:
                await self._fail(progress, error)
            if progress.judged_all:
                await self._finish(progress)

    async def _next(self) -> BatchProgress:
        async with self._added:
            while (progress := self._queue.next()) is None:
                await self._added.wait()
            return progress

    async def _judge_next_line(self, progress: BatchProgress) -> None:
        if progress.exhausted:
            return
        number, line = progress.take_line()
        if progress.exhausted:
            self._queue.remove(progress.batch.owner, progress)
        task = asyncio.create_task(self._judge_line(progress, number, line))
        progress.running.add(task)
        try:
            await asyncio.wait({task})
        finally:
            task.cancel()  # no effect if it has ended
            await asyncio.gather(task, return_exceptions=True)
            progress.running.discard(task)
        # A bug in judging one line must not end the worker; the line has no result and is judged again at the next start.
        if not task.cancelled() and task.exception() is not None:
            self._log.error("a completion of a batch could not be judged", batch=progress.batch.id, exc_info=task.exception())

    async def _judge_line(self, progress: BatchProgress, number: int, line: BatchLine) -> None:
        result = await judge_line(self._judge, number, line, lambda: progress.config_of(line))
        await self._add_result(progress, result)

    async def _add_result(self, progress: BatchProgress, result: LineResult) -> None:
        """Retry until the result is written: a judged completion must not be lost."""
        wait_s = FIRST_WAIT_S
        while True:
            try:
                return progress.add_result(result)
            except Unavailable as error:
                self._log.error("a result cannot be kept", batch=progress.batch.id, reason=str(error))
            await asyncio.sleep(wait_s)
            wait_s = min(2 * wait_s, MAX_WAIT_S)

    # The row in the store.

    async def _store_periodically(self) -> None:
        while True:
            await asyncio.sleep(_STORE_INTERVAL_S)
            for progress in list(self._running.values()):
                if progress.batch != progress.stored:
                    await self._try_store(progress)

    async def _try_store(self, progress: BatchProgress) -> None:
        """Update the row; on failure only log it, because the results file is complete and the next update follows."""
        try:
            await self._store_progress(progress)
        except SandboxError as error:
            self._log.warning("how a batch stands could not be noted", batch=progress.batch.id, reason=str(error))

    async def _store_progress(self, progress: BatchProgress, **changes: object) -> None:
        async with progress.store_lock:
            await progress.sync()
            stored = progress.stored
            fields = {name: getattr(progress.batch, name) for name in ("judged", "accepted", "not_judged", "reasons")}
            if not stored.ended:
                fields = {"state": BatchState.running, "started_ms": stored.started_ms or timestamps.now_ms(), **changes} | fields
            try:
                progress.set_stored(await self._store.batches.update(stored, **fields))
            except Conflict:
                progress.set_stored(await self._store.batches.get(progress.batch.id))  # ended by a caller in the meantime
                raise

    async def _finish(self, progress: BatchProgress) -> None:
        """Mark the batch as completed, retrying until the store is available."""
        wait_s = FIRST_WAIT_S
        while not progress.stored.ended:
            try:
                await self._store_progress(progress, state=BatchState.completed, ended_ms=timestamps.now_ms())
            except NotFound:
                break
            except SandboxError as error:
                self._log.warning("the end of a batch could not be noted", batch=progress.batch.id, reason=str(error))
                await asyncio.sleep(wait_s)
                wait_s = min(2 * wait_s, MAX_WAIT_S)
        await self._close(progress)

    async def _fail(self, progress: BatchProgress, error: PlatformFault) -> None:
        self._log.error("a batch cannot go on", batch=progress.batch.id, reason=str(error))
        with contextlib.suppress(SandboxError):
            await self._store_progress(progress, state=BatchState.failed, ended_ms=timestamps.now_ms(), message=str(error))
        await self.drop(progress.batch)

    async def _close(self, progress: BatchProgress) -> None:
        """Close the batch once: the last worker and a cancelling caller may both come here."""
        if self._running.get(progress.batch.id) is not progress or progress.closing:
            return
        progress.closing = True
        if progress.batch != progress.stored:
            await self._try_store(progress)
        self._running.pop(progress.batch.id, None)
        progress.close()
