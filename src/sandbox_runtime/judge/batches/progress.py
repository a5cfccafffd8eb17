"""The progress of one running batch: its next line, its counts, and notification of changes."""

from __future__ import annotations

import asyncio
import dataclasses
import os
from collections.abc import Generator
from typing import Self

from sandbox_runtime.judge.batches.config import LineConfig, read_config
from sandbox_runtime.judge.batches.jsonl import BatchLine, LineResult
from sandbox_runtime.judge.batches.spool import Spool, write_result
from sandbox_runtime.model import Batch, Reason


class BatchProgress:
    """Create with `await BatchProgress.resumed(…)`. All methods but `resumed` run in the event loop."""

    def __init__(self, batch: Batch, spool: Spool, config: dict[str, object], done: bytearray, reasons: dict[str, int]) -> None:
        self.batch = batch
        self.stored = batch
        """The batch as the store has it."""
        self.reasons = reasons
        self.running: set[asyncio.Task[None]] = set()
        self.closing = self.closed = False
        self._spool = spool
        self._config = config
        self.store_lock = asyncio.Lock()
        """Held while the store is updated."""
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
        """Whether no line is left to start."""
        return self._next is None

    def take_line(self) -> tuple[int, BatchLine]:
        numbered = self._next
        assert numbered is not None
        self._advance()
        return numbered

    def _advance(self) -> None:
        self._next = next(self._lines, None)

    def config_of(self, line: BatchLine) -> LineConfig:
        """Raises InvalidRequest."""
        return read_config(self.batch.dataset, self._config, line.config)

    def add_result(self, result: LineResult) -> None:
        """Append the result to the results file. Raises Unavailable if it cannot be written; then nothing changes."""
        write_result(self._descriptor, result)
        self._spool.charge.grow(len(result.json_line), force=True)
        self.reasons[result.reason] = self.reasons.get(result.reason, 0) + 1
        self._count()

    def set_stored(self, batch: Batch) -> None:
        """Replace the batch by the version of the store."""
        self.stored = batch
        self.batch = batch
        self._count()

    def _count(self) -> None:
        self.batch = with_counts(self.batch, self.reasons)
        self._changed.set()
        self._changed = asyncio.Event()

    async def wait_for_change(self, seen: Batch, timeout_s: float) -> bool:
        """Wait until the batch differs from `seen` or is closed. Returns False after the timeout."""
        while self.batch == seen and not self.closed:
            try:
                await asyncio.wait_for(self._changed.wait(), timeout_s)
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
