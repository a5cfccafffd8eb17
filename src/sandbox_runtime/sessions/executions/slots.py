"""Execution slots: how many executions run on this machine at once.

Pausing a session releases the slots of its executions to others; resuming it acquires them again first. So a paused session
blocks nobody, and a resumed one never exceeds the limit of the machine.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from sandbox_runtime.errors import PlatformFault, TooMany
from sandbox_runtime.sessions.deps import SessionDeps
from sandbox_runtime.sessions.registry import LiveExecution, LiveSession


class ExecutionSlots:
    def __init__(self, deps: SessionDeps) -> None:
        self._admission = deps.admission
        self._wait_s = deps.options.slot_wait_s

    @contextlib.asynccontextmanager
    async def hold(self, live: LiveSession, execution: LiveExecution) -> AsyncIterator[None]:
        execution.admitted_at = await self._enter_when_resumed(live)
        try:
            yield
        finally:
            execution.suspended = False
            self._leave(execution)

    def release_all(self, live: LiveSession) -> None:
        """Those of its executions, which stand still."""
        for execution in live.executions.values():
            if execution.admitted_at is not None:
                execution.suspended = True
                self._leave(execution)

    @contextlib.asynccontextmanager
    async def reacquire(self, live: LiveSession) -> AsyncIterator[None]:
        """Raises TooMany where there is no room for all of them; they are given up again where the body fails."""
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
        else:  # it was cancelled meanwhile
            self._admission.leave(admitted_at)

    async def _enter_when_resumed(self, live: LiveSession) -> float:
        """The end of the session ends the wait for it to go on."""
        while True:
            await live.resumed.wait()
            admitted_at = await self._enter()
            if live.resumed.is_set():
                return admitted_at
            self._admission.leave(admitted_at)

    async def _enter(self) -> float:
        """What is acknowledged already waits longer than a request that can still be refused."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._wait_s
        while True:
            try:
                return await self._admission.enter()
            except TooMany as error:
                if loop.time() + error.retry_after_s > deadline:
                    raise PlatformFault(f"there was no room to run it: {error}") from error
                await asyncio.sleep(error.retry_after_s)

    def _leave(self, execution: LiveExecution) -> None:
        if execution.admitted_at is not None:
            self._admission.leave(execution.admitted_at)
            execution.admitted_at = None
