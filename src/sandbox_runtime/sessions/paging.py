"""All rows that fit, page by page. For what is done once in a while; whoever asks from outside gets one page at a time."""

from __future__ import annotations

from sandbox_runtime.model import Session
from sandbox_runtime.store import SessionFilter, Store

_AT_ONCE = 500


async def all_sessions(store: Store, wanted: SessionFilter) -> list[Session]:
    found: list[Session] = []
    while True:
        page = await store.sessions.list(wanted, limit=_AT_ONCE, offset=len(found))
        found += page.items
        if not page.items or not page.has_more:
            return found
