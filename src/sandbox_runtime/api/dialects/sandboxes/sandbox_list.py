"""Which sandboxes a list shows, and in which order. Newest first is the store's own order; everything else is sorted here, and so
bounded."""

from __future__ import annotations

from typing import Any, Protocol

from sandbox_runtime.api.dialects.sandboxes.mapping import answers
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.model import Session
from sandbox_runtime.model.session import LIVE_SESSION_STATES
from sandbox_runtime.sessions import Sessions
from sandbox_runtime.store import SessionFilter

SORTED_BY = ("created_at", "updated_at", "name", "status", "id")
FILTERS = ("status", "name", "image")
MOST_SORTED = 2000
_AT_ONCE = 500
_EVERY = "all"


class Page(Protocol):
    @property
    def size(self) -> int: ...
    @property
    def offset(self) -> int: ...
    @property
    def sort_by(self) -> str: ...
    @property
    def descending(self) -> bool: ...


async def page(sessions: Sessions, owner: str, wanted: Page, filters: dict[str, str]) -> tuple[list[Session], int]:
    """The sessions of that page, and how many there are in all."""
    status = filters.get("status", "")
    rows = SessionFilter(states=_states(status))
    if wanted.sort_by == "created_at" and wanted.descending and filters.keys() <= {"status"} and status not in _SPLIT:
        found = await sessions.list(rows, wanted.size, wanted.offset, owner)
        return list(found.items), found.total
    fitting = [one for one in await _all(sessions, rows, owner) if _fits(one, filters)]
    fitting.sort(key=lambda one: (_key(one, wanted.sort_by), one.id), reverse=wanted.descending)
    return fitting[wanted.offset : wanted.offset + wanted.size], len(fitting)


_SPLIT = ("paused", "stopped")
"""One state of sessions: which of the two it is, only its notes tell."""


def _states(status: str) -> Any:
    if not status:
        return LIVE_SESSION_STATES
    if status == _EVERY:
        return None
    if status not in answers.STATES_OF_STATUS:
        known = ", ".join((*answers.STATES_OF_STATUS, _EVERY))
        raise InvalidRequest(f"filter_status is one of {known}, not {status[:40]!r}")
    return answers.STATES_OF_STATUS[status]


async def _all(sessions: Sessions, rows: SessionFilter, owner: str) -> list[Session]:
    found: list[Session] = []
    while True:
        part = await sessions.list(rows, _AT_ONCE, len(found), owner)
        if part.total > MOST_SORTED:
            raise InvalidRequest(f"{part.total} sandboxes are too many to be sorted or searched: narrow it with filter_status")
        found += part.items
        if not part.items or not part.has_more:
            return found


def _fits(session: Session, filters: dict[str, str]) -> bool:
    about, status = answers.about_of(session), filters.get("status", _EVERY)
    if status != _EVERY and status in _SPLIT and answers.status_of(session) != status:
        return False
    return all(str(about.get(name, "")) == filters[name] for name in ("name", "image") if name in filters)


def _key(session: Session, sort_by: str) -> Any:
    if sort_by == "created_at":
        return session.created_ms
    if sort_by == "updated_at":
        return session.updated_ms or session.created_ms
    if sort_by == "name":
        return str(answers.about_of(session).get("name", ""))
    return answers.status_of(session) if sort_by == "status" else session.id
