"""One item that waits for the next caller: opened in the background for a key, closed after an idle time."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Generic, TypeVar

from sandbox_runtime.engine.pools.background import BackgroundTasks
from sandbox_runtime.errors import SandboxError

Key = TypeVar("Key")
Item = TypeVar("Item")


class Standby(Generic[Key, Item]):
    """Holds at most one item, for at most `idle_s`. An item of another key than the requested one is closed."""

    def __init__(
        self,
        open_item: Callable[[Key], Coroutine[Any, Any, Item]],
        close_item: Callable[[Item], Awaitable[None]],
        idle_s: float,
    ) -> None:
        self._open_item = open_item
        self._close_item = close_item
        self._idle_s = idle_s
        self._key: Key | None = None
        self._opening: asyncio.Task[Item] | None = None
        self._expiry: asyncio.TimerHandle | None = None
        self.closing = BackgroundTasks("a standby item could not be closed")
        self._closed = False

    @property
    def waiting(self) -> bool:
        return self._opening is not None

    def prepare(self, key: Key) -> None:
        """Open an item for the next caller. Does nothing if one waits already."""
        if self._closed or self._opening is not None or self._idle_s <= 0:
            return
        self._key = key
        self._opening = asyncio.create_task(self._open_item(key))
        self._expiry = asyncio.get_running_loop().call_later(self._idle_s, self.drop)

    async def take(self, key: Key) -> Item | None:
        """Return the item, which now belongs to the caller; None if none fits or it could not be opened."""
        opening, fits = self._clear(), self._key == key
        if opening is None:
            return None
        if not fits:
            self.closing.start(self._close(opening))
            return None
        try:
            return await asyncio.shield(opening)
        except (SandboxError, OSError):  # what failed in the background may succeed now
            return None
        except asyncio.CancelledError:
            self.closing.start(self._close(opening))
            raise

    def drop(self) -> None:
        """Close the item, if there is one."""
        opening = self._clear()
        if opening is not None:
            self.closing.start(self._close(opening))

    async def close(self) -> None:
        self._closed = True
        self.drop()
        await self.closing.wait()

    def _clear(self) -> asyncio.Task[Item] | None:
        if self._expiry is not None:
            self._expiry.cancel()
        opening, self._opening, self._expiry = self._opening, None, None
        return opening

    async def _close(self, opening: asyncio.Task[Item]) -> None:
        with contextlib.suppress(SandboxError, OSError):
            await self._close_item(await opening)
