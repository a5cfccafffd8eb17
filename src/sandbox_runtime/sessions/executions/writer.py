"""Writes executions to the store: what is written, and when.

The row of an execution exists before a client learns its id, and its end is stored before anybody is notified. A client that
waits for the result learns both at the same time, so an execution that ends quickly is written once: row, artifacts and audit
entry in one transaction, at its end. One that runs longer, or whose id is returned immediately, gets its row while it runs;
after a crash the next server then finds that it was in flight.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
from typing import TYPE_CHECKING

from sandbox_runtime import timestamps
from sandbox_runtime.errors import Conflict, NotFound, SandboxError
from sandbox_runtime.model import Execution
from sandbox_runtime.retry import Backoff, retry
from sandbox_runtime.sessions.executions.result import Fields

if TYPE_CHECKING:
    from sandbox_runtime.sessions.registry import LiveExecution
    from sandbox_runtime.store import Store

INSERT_AFTER_S = 0.05
_BACKOFF = Backoff(retries=4, first_s=0.2)


class ExecutionWriter:
    def __init__(self, store: Store) -> None:
        self._executions = store.executions

    def insert_later(self, execution: LiveExecution) -> None:
        """Insert the row while the execution runs, unless it ends first."""
        execution.insert_timer = asyncio.get_running_loop().call_later(INSERT_AFTER_S, self._start_insert, execution)

    async def ensure_inserted(self, execution: LiveExecution) -> None:
        """Return when the row is stored."""
        if execution.end_written is not None:  # the row is stored with the end
            await execution.end_written.wait()
        if execution.pending_audit is None:
            return
        written = await asyncio.shield(self._start_insert(execution))
        if execution.pending_audit is not None:  # a concurrent caller has set both, and the row may have changed since
            execution.row, execution.pending_audit = written, None

    async def write_end(self, execution: LiveExecution, fields: Fields) -> None:
        """Store the end, with retries: a short outage of the database must not lose a result."""
        if execution.insert_timer is not None:
            execution.insert_timer.cancel()
        if execution.insert_task is not None:
            with contextlib.suppress(SandboxError):  # retried below, together with the end
                await self.ensure_inserted(execution)
        execution.end_written = asyncio.Event()
        try:
            execution.row = await retry(lambda: self._end(execution, fields), _BACKOFF, retry_error=_is_transient)
            execution.pending_audit = None
        finally:
            execution.end_written.set()

    def _start_insert(self, execution: LiveExecution) -> asyncio.Task[Execution]:
        if execution.insert_task is None:
            assert execution.pending_audit is not None
            execution.insert_task = asyncio.create_task(
                self._executions.add(execution.row, by=execution.pending_audit.actor, audit=execution.pending_audit)
            )
        return execution.insert_task

    async def _end(self, execution: LiveExecution, fields: Fields) -> Execution:
        try:
            if execution.pending_audit is None:
                return await self._executions.end(execution.row, execution.artifacts, **fields)
            row = dataclasses.replace(execution.row, updated_ms=timestamps.now_ms(), **fields)
            return await self._executions.add_ended(
                row, execution.artifacts, by=execution.pending_audit.actor, audit=execution.pending_audit
            )
        except Conflict:
            return await self._resolve_conflict(execution, fields)

    async def _resolve_conflict(self, execution: LiveExecution, fields: Fields) -> Execution:
        """Store the end on the current row: it was ended elsewhere, or an insert that seemed to fail was written after all."""
        row = await self._executions.get(execution.row.id)
        return row if row.state.ended else await self._executions.end(row, execution.artifacts, **fields)


def _is_transient(error: Exception) -> bool:
    return isinstance(error, SandboxError) and not isinstance(error, NotFound | Conflict)
