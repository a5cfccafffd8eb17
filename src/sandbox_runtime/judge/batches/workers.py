"""The workers that judge the completions of all batches, and what they do when something of ours fails.

Theory of operation. There are `parallel` workers. Each asks whose turn it is, takes the next line of that batch, judges it and
adds the result to the batch's file; the row in the store follows at most once a second, after the file has reached the disk.
When the judge cannot say anything through a fault of ours, or a result cannot be kept, the worker waits longer and longer and
tries the same line again; only after several such rounds the line is told as not judged. Whoever stops this process, however
roughly, loses no result: lines without one are judged again at the next start.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import Self

from sandbox_runtime import timestamps
from sandbox_runtime.errors import Conflict, NotFound, PlatformFault, SandboxError, Unavailable
from sandbox_runtime.judge.batches.fair_queue import FairQueue
from sandbox_runtime.judge.batches.line_judge import FIRST_WAIT_S, MAX_WAIT_S, LineJudge, judge_line
from sandbox_runtime.judge.batches.lines import BatchLine, LineResult
from sandbox_runtime.judge.batches.progress import BatchProgress
from sandbox_runtime.judge.batches.spool import Spool
from sandbox_runtime.model import Batch, BatchState
from sandbox_runtime.store import Store
from sandbox_runtime.telemetry import Log

_STORE_INTERVAL_S = 1.0


class BatchWorkers:
    def __init__(self, store: Store, judging: LineJudge, parallel: int, log: Log) -> None:
        self._store = store
        self._judging = judging
        self._parallel = parallel
        self._log = log
        self._works: dict[str, BatchProgress] = {}
        self._sharing: FairQueue[BatchProgress] = FairQueue()
        self._more = asyncio.Condition()
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        self._tasks = [asyncio.create_task(self._work()) for _ in range(self._parallel)]
        self._tasks.append(asyncio.create_task(self._note_often()))
        return self

    async def __aexit__(self, *_error: object) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for work in list(self._works.values()):
            with contextlib.suppress(SandboxError):
                await self._note(work)
            work.close()
        self._works.clear()

    def find(self, name: str) -> BatchProgress | None:
        return self._works.get(name)

    async def add(self, batch: Batch, spool: Spool) -> None:
        try:
            if not spool.complete:
                raise PlatformFault("the completions of this batch are gone from the disk: send it again under another key")
            work = await BatchProgress.resume(batch, spool, json.loads(batch.config_json or "{}"))
        except (PlatformFault, OSError) as error:
            self._log.error("a batch cannot go on", batch=batch.id, reason=str(error))
            spool.remove_input()
            await self._store.batches.update(batch, state=BatchState.failed, message=str(error), ended_ms=timestamps.now_ms())
            return
        self._works[batch.id] = work
        if work.exhausted:
            await self._finish(work)
            return
        self._sharing.add(batch.owner, work)
        async with self._more:
            self._more.notify_all()

    async def drop(self, ended: Batch) -> None:
        """Ended from outside: what is being judged of it stops, and its boxes are gone when this returns."""
        work = self._works.get(ended.id)
        if work is None:
            return
        work.now(ended)
        self._sharing.remove(ended.owner, work)
        stopping = list(work.running)
        for task in stopping:
            task.cancel()
        await asyncio.gather(*stopping, return_exceptions=True)
        await self._close(work)

    # Workers.

    async def _work(self) -> None:
        while True:
            work = await self._next()
            try:
                await self._one(work)
            except PlatformFault as error:
                await self._fail(work, error)
            if work.judged_all:
                await self._finish(work)

    async def _next(self) -> BatchProgress:
        async with self._more:
            while (work := self._sharing.next()) is None:
                await self._more.wait()
            return work

    async def _one(self, work: BatchProgress) -> None:
        if work.exhausted:
            return
        number, line = work.take()
        if work.exhausted:
            self._sharing.remove(work.batch.owner, work)
        task = asyncio.create_task(self._judge(work, number, line))
        work.running.add(task)
        try:
            await asyncio.wait({task})
        finally:
            task.cancel()  # nothing where it has ended
            await asyncio.gather(task, return_exceptions=True)
            work.running.discard(task)
        # A bug of ours in one line must not end the worker; the line has no result and is judged again at the next start.
        if not task.cancelled() and task.exception() is not None:
            self._log.error("a completion of a batch could not be judged", batch=work.batch.id, exc_info=task.exception())

    async def _judge(self, work: BatchProgress, number: int, line: BatchLine) -> None:
        await self._keep(work, await judge_line(self._judging, number, line, lambda: work.config_of(line)))

    async def _keep(self, work: BatchProgress, result: LineResult) -> None:
        """However long it takes: the completion was judged, and that must not get lost."""
        wait_s = FIRST_WAIT_S
        while True:
            try:
                return work.keep(result)
            except Unavailable as error:
                self._log.error("a result cannot be kept", batch=work.batch.id, reason=str(error))
            await asyncio.sleep(wait_s)
            wait_s = min(2 * wait_s, MAX_WAIT_S)

    # The row in the store.

    async def _note_often(self) -> None:
        while True:
            await asyncio.sleep(_STORE_INTERVAL_S)
            for work in list(self._works.values()):
                if work.batch != work.stored:
                    await self._noted(work)

    async def _noted(self, work: BatchProgress) -> None:
        """A store that is away comes back: the file has it all."""
        try:
            await self._note(work)
        except SandboxError as error:
            self._log.warning("how a batch stands could not be noted", batch=work.batch.id, reason=str(error))

    async def _note(self, work: BatchProgress, **changes: object) -> None:
        async with work.store_lock:
            await work.sync()
            counts = {name: getattr(work.batch, name) for name in ("judged", "accepted", "not_judged", "reasons")}
            going = {"state": BatchState.running, "started_ms": work.stored.started_ms or timestamps.now_ms(), **changes}
            try:
                work.now(await self._store.batches.update(work.stored, **(counts if work.stored.ended else going | counts)))
            except Conflict:
                work.now(await self._store.batches.get(work.batch.id))  # ended from outside meanwhile
                raise

    async def _finish(self, work: BatchProgress) -> None:
        """Every line has its result. The row says so at last, however long the store is away."""
        wait_s = FIRST_WAIT_S
        while not work.stored.ended:
            try:
                await self._note(work, state=BatchState.completed, ended_ms=timestamps.now_ms())
            except NotFound:
                break
            except SandboxError as error:
                self._log.warning("the end of a batch could not be noted", batch=work.batch.id, reason=str(error))
                await asyncio.sleep(wait_s)
                wait_s = min(2 * wait_s, MAX_WAIT_S)
        await self._close(work)

    async def _fail(self, work: BatchProgress, error: PlatformFault) -> None:
        self._log.error("a batch cannot go on", batch=work.batch.id, reason=str(error))
        with contextlib.suppress(SandboxError):
            await self._note(work, state=BatchState.failed, ended_ms=timestamps.now_ms(), message=str(error))
        await self.drop(work.batch)

    async def _close(self, work: BatchProgress) -> None:
        """Once, whoever comes first: the last worker or the one who cancelled it."""
        if self._works.get(work.batch.id) is not work or work.closing:
            return
        work.closing = True
        if work.batch != work.stored:
            await self._noted(work)
        self._works.pop(work.batch.id, None)
        work.close()
