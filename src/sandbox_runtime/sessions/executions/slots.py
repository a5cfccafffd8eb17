"""Execution slots: how many executions run on this machine at once.

Pausing a session releases the slots of its executions to others; resuming it acquires them again first. So a paused session
blocks nobody, and a resumed one never exceeds the limit of the machine.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from sandbox_runtime.errors import PlatformFault, TooMany

if TYPE_CHECKING:
    from sandbox_runtime.sessions.deps import SessionDeps
    from sandbox_runtime.sessions.registry import LiveExecution, LiveSession


class ExecutionSlots:
    def __init__(self, deps: SessionDeps) -> None:
        self._admission = deps.admission
        self._wait_s = deps.options.slot_wait_s

    @contextlib.asynccontextmanager
    async def hold(self, live: LiveSession, execution: LiveExecution) -> AsyncIterator[None]:
        """Hold a slot on the machine; wait for it, and for the session to be resumed. Raises PlatformFault if none gets free."""
        execution.admitted_at = await self._enter_when_resumed(live)
        try:
            yield
        finally:
            execution.suspended = False
            self._leave(execution)

    def release_all(self, live: LiveSession) -> None:
        """Release the slots of a paused session's executions."""
        for execution in live.executions.values():
            if execution.admitted_at is not None:
                execution.suspended = True
                self._leave(execution)

    @contextlib.asynccontextmanager
    async def reacquire(self, live: LiveSession) -> AsyncIterator[None]:
        """Acquire the slots of a paused session's executions again; release them if the body raises. Raises TooMany if too few
        are free."""
        try:
            for execution in [execution for execution in live.executions.values() if execution.suspended]:
                await self._reacquire(execution)
            yield
        except BaseException:
            self.release_all(live)
            raise

    async def _reacquire(self, execution: LiveExecution) -> None:
        admitted_at = await self._admission.enter()
        if execution.suspended:
            execution.admitted_at, execution.suspended = admitted_at, False
        else:  # it was cancelled in the meantime
            self._admission.leave(admitted_at)

    async def _enter_when_resumed(self, live: LiveSession) -> float:
        """Wait until the session is not paused and a slot is free. The end of the session cancels this."""
        while True:
            await live.resumed.wait()
            admitted_at = await self._enter()
            if live.resumed.is_set():
                return admitted_at
            self._admission.leave(admitted_at)

    async def _enter(self) -> float:
        """Wait for a slot: longer than admission does, because the execution was acknowledged and cannot be refused any more."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._wait_s
        while True:
            try:
                return await self._admission.enter()
            except TooMany as error:
                if loop.time() + error.retry_after_s > deadline:
                    raise PlatformFault(f"no slot became free for the execution: {error}") from error
                await asyncio.sleep(error.retry_after_s)

    def _leave(self, execution: LiveExecution) -> None:
        if execution.admitted_at is not None:
            self._admission.leave(execution.admitted_at)
            execution.admitted_at = None
