"""What is written down of an execution, and when.

Its row is there before anybody learns its name, and its end before anybody is told of it. Whoever asks for an execution and waits
for its end learns both at once. So one that ends within a moment is written once: with its end, the files that it left and the
audit, in one transaction. One that takes longer, or whose name is told at once, has its row written while it runs: then it is
known to have been under way when the server dies.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses

from sandbox_runtime import timestamps
from sandbox_runtime.errors import Conflict, NotFound, SandboxError
from sandbox_runtime.model import Execution
from sandbox_runtime.retry import Backoff, retry
from sandbox_runtime.sessions.executions.result import Fields
from sandbox_runtime.sessions.registry import LiveExecution
from sandbox_runtime.store import Store

NOTE_AFTER_S = 0.05
_BACKOFF = Backoff(retries=4, first_s=0.2)


class Rows:
    def __init__(self, store: Store) -> None:
        self._executions = store.executions

    def soon(self, one: LiveExecution) -> None:
        """Its row is written while it runs, unless it ends before."""
        one.note_at = asyncio.get_running_loop().call_later(NOTE_AFTER_S, self._noting, one)

    async def noted(self, one: LiveExecution) -> None:
        """Its row is there from now on."""
        if one.ending is not None:  # its row comes with its end
            await one.ending.wait()
        if one.birth is None:
            return
        written = await asyncio.shield(self._noting(one))
        if one.birth is not None:  # whoever comes second finds it done, and the row maybe changed since
            one.execution, one.birth = written, None

    async def ended(self, one: LiveExecution, fields: Fields) -> None:
        """A database that is away for a moment costs no result."""
        if one.note_at is not None:
            one.note_at.cancel()
        if one.noting is not None:
            with contextlib.suppress(SandboxError):  # it is tried again below, as a whole
                await self.noted(one)
        one.ending = asyncio.Event()
        try:
            one.execution = await retry(lambda: self._end(one, fields), _BACKOFF, retry_error=_is_transient)
            one.birth = None
        finally:
            one.ending.set()

    def _noting(self, one: LiveExecution) -> asyncio.Task[Execution]:
        if one.noting is None:
            assert one.birth is not None
            one.noting = asyncio.create_task(self._executions.add(one.execution, by=one.birth.actor, audit=one.birth))
        return one.noting

    async def _end(self, one: LiveExecution, fields: Fields) -> Execution:
        try:
            if one.birth is None:
                return await self._executions.end(one.execution, one.artifacts, **fields)
            whole = dataclasses.replace(one.execution, updated_ms=timestamps.now_ms(), **fields)
            return await self._executions.add_ended(whole, one.artifacts, by=one.birth.actor, audit=one.birth)
        except Conflict:
            return await self._settled(one, fields)

    async def _settled(self, one: LiveExecution, fields: Fields) -> Execution:
        """Somebody ended it first; or its row was written after all, by a call that seemed to fail."""
        found = await self._executions.get(one.execution.id)
        return found if found.state.ended else await self._executions.end(found, one.artifacts, **fields)


def _is_transient(error: Exception) -> bool:
    return isinstance(error, SandboxError) and not isinstance(error, NotFound | Conflict)
