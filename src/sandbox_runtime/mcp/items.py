"""What a program prints, as items of a stream: its output, and how far it says it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sandbox_runtime.mcp.hosts.port import Sink
from sandbox_runtime.mcp.notifications import find_progress

Tell = Callable[[Mapping[str, Any]], None]


def item_sink(tell: Tell | None) -> Sink | None:
    if tell is None:
        return None

    def take(stream: str, text: str) -> None:
        if not text:
            return
        tell({"type": "data" if stream == "stdout" else "error", "stream": stream, "data": text})
        found = find_progress(text)
        if found is not None:
            message = (text.strip().splitlines() or [""])[-1][:200]
            tell({"type": "progress", "progress": {"current": found[0], "total": found[1], "message": message}})

    return take
