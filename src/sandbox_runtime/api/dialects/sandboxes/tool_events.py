"""A call of a tool as server-sent events: what its program prints, how far it is, and in the end what came of it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

from sandbox_runtime.api.dialects.sandboxes import schemas
from sandbox_runtime.api.dialects.sandboxes.tool_provider import Tell
from sandbox_runtime.api.sse import KEEP_ALIVE, KEEP_ALIVE_S, event
from sandbox_runtime.errors import SandboxError

MOST_WAITING_CHARACTERS = 1024**2
_STOP_WITHIN_S = 60.0
Item = Mapping[str, Any]
Work = Callable[[Tell], Awaitable[schemas.ToolResult]]


class Flow:
    """Bounded: of what a slow client has not taken yet, the newest is kept. The whole is in the result, as far as that goes."""

    def __init__(self) -> None:
        self._items: deque[tuple[Item, int]] = deque()
        self._waiting = 0
        self.news = asyncio.Event()

    def tell(self, item: Item) -> None:
        size = len(str(item.get("data", ""))) + 100
        self._items.append((item, size))
        self._waiting += size
        while self._waiting > MOST_WAITING_CHARACTERS and len(self._items) > 1:
            self._waiting -= self._items.popleft()[1]
        self.news.set()

    def taken(self) -> list[Item]:
        items, self._waiting = [item for item, _ in self._items], 0
        self._items.clear()
        self.news.clear()
        return items


async def events(work: Work) -> AsyncIterator[str]:
    """Whoever stops listening ends the call."""
    flow = Flow()
    task = asyncio.ensure_future(work(flow.tell))
    task.add_done_callback(lambda _: flow.news.set())
    try:
        while not task.done():
            for item in flow.taken():
                yield event(item)
            if not await _within(KEEP_ALIVE_S, flow.news):
                yield KEEP_ALIVE
        for item in flow.taken():
            yield event(item)
        yield event(_last(task))
    finally:
        task.cancel()
        await asyncio.wait((task,), timeout=_STOP_WITHIN_S)


async def _within(time_s: float, news: asyncio.Event) -> bool:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(time_s):
            await news.wait()
            return True
    return False


def _last(task: asyncio.Future[schemas.ToolResult]) -> Item:
    try:
        return {"type": "complete", "data": task.result().model_dump(mode="json", exclude_none=True)}
    except SandboxError as error:
        return {"type": "complete", "error": str(error)}
    except Exception as error:
        logging.getLogger(__name__).exception("a tool failed in an unforeseen way")
        return {"type": "complete", "error": f"the tool failed in an unforeseen way: {type(error).__name__}"}
