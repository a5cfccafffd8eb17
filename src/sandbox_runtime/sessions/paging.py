"""All rows that fit, page by page. For what is done once in a while; whoever asks from outside gets one page at a time."""

from __future__ import annotations

from sandbox_runtime.model import Session
from sandbox_runtime.store import SessionFilter, Store

_PAGE = 500


async def all_sessions(store: Store, where: SessionFilter) -> list[Session]:
    sessions: list[Session] = []
    while True:
        page = await store.sessions.list(where, limit=_PAGE, offset=len(sessions))
        sessions += page.items
        if not page.items or not page.has_more:
            return sessions
