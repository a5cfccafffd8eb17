"""Stream a tool call as server-sent events: its output and progress, then its result."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

from sandbox_runtime.api.dialects.sandboxes.schemas.tools import ToolResult
from sandbox_runtime.api.dialects.sandboxes.tool_provider import Emit
from sandbox_runtime.api.sse import KEEP_ALIVE, KEEP_ALIVE_S, event
from sandbox_runtime.errors import SandboxError

MAX_BUFFERED_CHARACTERS = 1024**2
_STOP_TIMEOUT_S = 60.0
Item = Mapping[str, Any]
StreamedCall = Callable[[Emit], Awaitable[ToolResult]]


class ItemBuffer:
    """Items for a client that may be slow. If there are too many, the oldest are dropped; the result has the whole output."""

    def __init__(self) -> None:
        self._items: deque[tuple[Item, int]] = deque()
        self._characters = 0
        self.changed = asyncio.Event()

    def add(self, item: Item) -> None:
        size = len(str(item.get("data", ""))) + 100
        self._items.append((item, size))
        self._characters += size
        while self._characters > MAX_BUFFERED_CHARACTERS and len(self._items) > 1:
            self._characters -= self._items.popleft()[1]
        self.changed.set()

    def take_all(self) -> list[Item]:
        items, self._characters = [item for item, _ in self._items], 0
        self._items.clear()
        self.changed.clear()
        return items


async def tool_events(call: StreamedCall) -> AsyncIterator[str]:
    """Yield the events of a call. Closing the iterator stops the tool."""
    buffer = ItemBuffer()
    task = asyncio.ensure_future(call(buffer.add))
    task.add_done_callback(lambda _: buffer.changed.set())
    try:
        while not task.done():
            for item in buffer.take_all():
                yield event(item)
            if not await _wait(buffer.changed, KEEP_ALIVE_S):
                yield KEEP_ALIVE
        for item in buffer.take_all():
            yield event(item)
        yield event(_last_item(task))
    finally:
        task.cancel()
        await asyncio.wait((task,), timeout=_STOP_TIMEOUT_S)


async def _wait(changed: asyncio.Event, timeout_s: float) -> bool:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(timeout_s):
            await changed.wait()
            return True
    return False


def _last_item(task: asyncio.Future[ToolResult]) -> Item:
    try:
        return {"type": "complete", "data": task.result().model_dump(mode="json", exclude_none=True)}
    except SandboxError as error:
        return {"type": "complete", "error": str(error)}
    except Exception as error:
        logging.getLogger(__name__).exception("unexpected error in a tool")
        return {"type": "complete", "error": f"unexpected error in the tool: {type(error).__name__}"}
