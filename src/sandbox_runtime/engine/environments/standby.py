"""A box that waits for the next command of a home.

One for each home that was used lately: opened in the background soon after the one before was used, closed when nothing came for
a while. A box of another kind than the one asked for is of no use and goes.

Soon, and not at once: closing the box that was used and opening another takes longer than telling what came of its command, and
whoever waits for that comes first. Only where commands follow one another without a pause the next one would wait for its box:
then it is opened while the one before is still running.
"""

from __future__ import annotations

import asyncio
import contextlib

from sandbox_runtime.errors import PlatformFault, SandboxError
from sandbox_runtime.isolation.port import Backend, Box, Files
from sandbox_runtime.model import Policy

OPEN_WITHIN_S = 30.0
TIDY_AFTER_S = 0.01
IN_A_ROW_S = 0.05
"""Commands with less than this between them follow one another."""


class Standby:
    """idle_s: how long a box may wait."""

    def __init__(self, backend: Backend, files: Files, idle_s: float) -> None:
        self._backend = backend
        self._files = files
        self._idle_s = idle_s
        self._policy: Policy | None = None
        self._opening: asyncio.Task[Box] | None = None
        self._expiry: asyncio.TimerHandle | None = None
        self._burials: set[asyncio.Task[None]] = set()
        self._spent: list[Box] = []
        self._wanted: Policy | None = None
        self._tidying: asyncio.TimerHandle | None = None
        self._released_at = float("-inf")
        self._in_a_row = False
        self._closed = False

    @property
    def waiting(self) -> bool:
        return self._opening is not None or self._wanted is not None

    async def take(self, policy: Policy) -> Box:
        """The caller owes release()."""
        opening, fits = self._opening, self._policy == policy
        self._wanted = None
        self._in_a_row = asyncio.get_running_loop().time() - self._released_at < IN_A_ROW_S
        self._forget()
        if opening is not None and fits:
            with contextlib.suppress(SandboxError):  # what went wrong in the background may go well now
                box = await self._shielded(opening)
                if box is not None and not box.outdated:
                    self._prepare_in_a_row(policy)
                    return box
                self._bury(opening)
        elif opening is not None:
            self._bury(opening)
        return await self._open(policy)

    def _prepare_in_a_row(self, policy: Policy) -> None:
        if self._in_a_row:
            self.prepare(policy)

    def prepare(self, policy: Policy) -> None:
        """Have one ready for the next. Does nothing while another waits."""
        if self._closed or self._opening is not None or self._idle_s <= 0:
            return
        self._policy = policy
        self._opening = asyncio.create_task(self._open(policy))
        self._expiry = asyncio.get_running_loop().call_later(self._idle_s, self._expire)

    def release(self, box: Box, following: Policy | None = None) -> None:
        """Close a box that was taken, soon and in the background: with a command's outcome all its processes are dead, so nobody
        need wait for the rest. following: then have one of this kind ready for the next."""
        self._spent.append(box)
        if following is not None and self._opening is None:
            self._wanted = following
        loop = asyncio.get_running_loop()
        self._released_at = loop.time()
        if self._closed or self._in_a_row:
            self._tidy()
        elif self._tidying is None:
            self._tidying = loop.call_later(TIDY_AFTER_S, self._tidy)

    async def close(self) -> None:
        self._closed = True
        self._tidy()
        self._expire()
        if self._burials:
            await asyncio.wait(self._burials, timeout=OPEN_WITHIN_S)

    def _tidy(self) -> None:
        if self._tidying is not None:
            self._tidying.cancel()
        spent, wanted = self._spent, self._wanted
        self._spent, self._wanted, self._tidying = [], None, None
        for box in spent:
            self._keep(asyncio.create_task(box.close()))
        if wanted is not None:
            self.prepare(wanted)

    async def _open(self, policy: Policy) -> Box:
        try:
            async with asyncio.timeout(OPEN_WITHIN_S):
                return await self._backend.open(policy, self._files)
        except TimeoutError as error:
            raise PlatformFault(f"no box could be opened within {OPEN_WITHIN_S:g} s") from error

    async def _shielded(self, opening: asyncio.Task[Box]) -> Box | None:
        """A caller that is cancelled leaves the box to be closed when it is there."""
        try:
            return await asyncio.shield(opening)
        except asyncio.CancelledError:
            self._bury(opening)
            raise

    def _expire(self) -> None:
        opening = self._opening
        self._forget()
        if opening is not None:
            self._bury(opening)

    def _forget(self) -> None:
        if self._expiry is not None:
            self._expiry.cancel()
        self._opening = self._expiry = self._policy = None

    def _bury(self, opening: asyncio.Task[Box]) -> None:
        self._keep(asyncio.create_task(_close_opened(opening)))

    def _keep(self, task: asyncio.Task[None]) -> None:
        self._burials.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        """A box that cannot be closed is told by the event loop's own complaint; the keeper ends it with the server."""
        self._burials.discard(task)
        if not task.cancelled() and task.exception() is not None:
            told = {"message": "a box of a session could not be closed", "exception": task.exception()}
            asyncio.get_running_loop().call_exception_handler(told)


async def _close_opened(opening: asyncio.Task[Box]) -> None:
    with contextlib.suppress(SandboxError):
        box = await opening
        await box.close()
