"""Write server-sent events (`text/event-stream`)."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

from sandbox_runtime.api.file_response import ClosingStream

KEEP_ALIVE = ": keep-alive\n\n"
"""A comment, which clients ignore. Sent while there are no events, so that proxies do not close the connection."""
KEEP_ALIVE_S = 15.0
"""Send KEEP_ALIVE after this time without an event."""
STREAM_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
"""Keep caches and proxies from holding back what is sent."""


def event(data: Any, *, name: str = "", id: str = "") -> str:
    """Return one event. `data` is sent as it is if it is text, otherwise as JSON."""
    text = data if isinstance(data, str) else json.dumps(data)
    head = (f"id: {id}\n" if id else "") + (f"event: {name}\n" if name else "")
    return head + "".join(f"data: {line}\n" for line in text.split("\n")) + "\n"


def event_stream(events: AsyncIterator[str], stack: AsyncExitStack | None = None) -> ClosingStream:
    """Return a response that sends the events as they come. `stack` is closed when the response ends."""
    return ClosingStream(events, stack, STREAM_HEADERS, "text/event-stream")
