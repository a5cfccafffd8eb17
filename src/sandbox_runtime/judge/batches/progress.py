"""One batch while it is worked on: which line is next, what has come out, and who is waiting to hear of it."""

from __future__ import annotations

import asyncio
import dataclasses
import os
from collections.abc import Generator
from typing import Self

from sandbox_runtime.judge.batches.config import LineConfig, read_config
from sandbox_runtime.judge.batches.lines import BatchLine, LineResult
from sandbox_runtime.judge.batches.spool import Spool, write_result
from sandbox_runtime.model import Batch, Reason


class BatchProgress:
    """Create with `await BatchProgress.resumed(…)`. All methods but `resumed` run in the event loop."""

    def __init__(self, batch: Batch, spool: Spool, config: dict[str, object], done: bytearray, reasons: dict[str, int]) -> None:
        self.batch = batch
        self.stored = batch
        """As the store has it."""
        self.reasons = reasons
        self.running: set[asyncio.Task[None]] = set()
        self.closing = self.closed = False
        self._spool = spool
        self._config = config
        self.store_lock = asyncio.Lock()
        """Held by whoever brings the store up to date."""
        self._lines: Generator[tuple[int, BatchLine], None, None] = spool.lines(done)
        self._next: tuple[int, BatchLine] | None = None
        self._descriptor = spool.open_results()
        self._changed = asyncio.Event()
        self._advance()
        self._count()

    @classmethod
    async def resume(cls, batch: Batch, spool: Spool, config: dict[str, object]) -> Self:
        done, reasons = await asyncio.to_thread(spool.done)
        return cls(batch, spool, config, done, reasons)

    @property
    def judged_all(self) -> bool:
        return self.exhausted and not self.running

    @property
    def exhausted(self) -> bool:
        """No line is left to begin with."""
        return self._next is None

    def take(self) -> tuple[int, BatchLine]:
        taken = self._next
        assert taken is not None
        self._advance()
        return taken

    def _advance(self) -> None:
        self._next = next(self._lines, None)

    def config_of(self, line: BatchLine) -> LineConfig:
        """Raises InvalidRequest."""
        return read_config(self.batch.dataset, self._config, line.config)

    def keep(self, result: LineResult) -> None:
        """Raises Unavailable where it cannot be kept; then nothing of it is."""
        write_result(self._descriptor, result)
        self._spool.charge.grow(len(result.text), force=True)
        self.reasons[result.reason] = self.reasons.get(result.reason, 0) + 1
        self._count()

    def now(self, batch: Batch) -> None:
        """What the store says of it since."""
        self.stored = batch
        self.batch = batch
        self._count()

    def _count(self) -> None:
        self.batch = with_counts(self.batch, self.reasons)
        self._changed.set()
        self._changed = asyncio.Event()

    async def changed_since(self, seen: Batch, within_s: float) -> bool:
        """Whether it is no longer as it was seen, at once or within that time. One that is closed changes no more."""
        while self.batch == seen and not self.closed:
            try:
                await asyncio.wait_for(self._changed.wait(), within_s)
            except TimeoutError:
                return False
        return True

    async def sync(self) -> None:
        await asyncio.to_thread(os.fsync, self._descriptor)

    def close(self) -> None:
        self.closed = True
        self._lines.close()
        os.close(self._descriptor)
        if self.batch.ended:
            self._spool.remove_input()
        self._changed.set()


def with_counts(batch: Batch, reasons: dict[str, int]) -> Batch:
    return dataclasses.replace(
        batch,
        judged=sum(reasons.values()),
        accepted=reasons.get(Reason.accepted, 0),
        not_judged=reasons.get(Reason.not_judged, 0),
        reasons=dict(reasons),
    )
