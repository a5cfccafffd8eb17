"""Places on the machine: as many executions as may run at once. One whose session is paused uses none.

Whoever pauses a session gives the places of its executions to others, and takes as many again before it goes on; so a paused
session keeps nobody from running, and none goes on past the bound of the machine.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from sandbox_runtime.errors import PlatformFault, TooMany
from sandbox_runtime.sessions.deps import Ground
from sandbox_runtime.sessions.registry import LiveExecution, LiveSession


class Places:
    def __init__(self, ground: Ground) -> None:
        self._admission = ground.admission
        self._wait_s = ground.options.place_wait_s

    @contextlib.asynccontextmanager
    async def held(self, live: LiveSession, one: LiveExecution) -> AsyncIterator[None]:
        one.entered = await self._enter_when_going(live)
        try:
            yield
        finally:
            one.halted = False
            self._leave(one)

    def give_up(self, live: LiveSession) -> None:
        """Those of its executions, which stand still."""
        for one in live.executions.values():
            if one.entered is not None:
                one.halted = True
                self._leave(one)

    @contextlib.asynccontextmanager
    async def taken_again(self, live: LiveSession) -> AsyncIterator[None]:
        """Raises TooMany where there is no room for all of them; they are given up again where the body fails."""
        try:
            for one in [one for one in live.executions.values() if one.halted]:
                await self._take_again(one)
            yield
        except BaseException:
            self.give_up(live)
            raise

    async def _take_again(self, one: LiveExecution) -> None:
        entered = await self._admission.enter()
        if one.halted:
            one.entered, one.halted = entered, False
        else:  # it was cancelled meanwhile
            self._admission.leave(entered)

    async def _enter_when_going(self, live: LiveSession) -> float:
        """The end of the session ends the wait for it to go on."""
        while True:
            await live.going.wait()
            entered = await self._enter()
            if live.going.is_set():
                return entered
            self._admission.leave(entered)

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

    def _leave(self, one: LiveExecution) -> None:
        if one.entered is not None:
            self._admission.leave(one.entered)
            one.entered = None
