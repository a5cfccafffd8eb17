"""Filter and sort lists of sandboxes.

The store returns sessions newest first and filters by state. Other orders and filters are applied here, to a bounded number.
"""

from __future__ import annotations

from typing import Any

from sandbox_runtime.api.dialects.sandboxes.mapping import answers
from sandbox_runtime.api.dialects.sandboxes.schemas.base import PageQuery
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.model import Session
from sandbox_runtime.model.session import LIVE_SESSION_STATES
from sandbox_runtime.sessions import Sessions
from sandbox_runtime.store import SessionFilter

SORT_KEYS = ("created_at", "updated_at", "name", "status", "id")
FILTERS = ("status", "name", "image")
MAX_SORTED = 2000
_PAGE_SIZE = 500
_ALL = "all"
_PAUSED_STATUSES = ("paused", "stopped")
"""Both are the session state paused; `about_json` distinguishes them."""


async def list_page(sessions: Sessions, owner: str, query: PageQuery, filters: dict[str, str]) -> tuple[list[Session], int]:
    """Return the sessions of the page, and the total."""
    status = filters.get("status", "")
    session_filter = SessionFilter(states=_states(status))
    newest_first = query.sort_by == "created_at" and query.descending
    if newest_first and filters.keys() <= {"status"} and status not in _PAUSED_STATUSES:
        page = await sessions.list(session_filter, query.size, query.offset, owner)
        return list(page.items), page.total
    matching = [session for session in await _load_all(sessions, session_filter, owner) if _matches(session, filters)]
    matching.sort(key=lambda session: (_sort_key(session, query.sort_by), session.id), reverse=query.descending)
    return matching[query.offset : query.offset + query.size], len(matching)


def _states(status: str) -> Any:
    if not status:
        return LIVE_SESSION_STATES
    if status == _ALL:
        return None
    if status not in answers.STATES_OF_STATUS:
        allowed = ", ".join((*answers.STATES_OF_STATUS, _ALL))
        raise InvalidRequest(f"filter_status must be one of {allowed}, not {status[:40]!r}")
    return answers.STATES_OF_STATUS[status]


async def _load_all(sessions: Sessions, session_filter: SessionFilter, owner: str) -> list[Session]:
    loaded: list[Session] = []
    while True:
        page = await sessions.list(session_filter, _PAGE_SIZE, len(loaded), owner)
        if page.total > MAX_SORTED:
            raise InvalidRequest(
                f"{page.total} sandboxes are too many to sort or search (at most {MAX_SORTED}): narrow them with filter_status"
            )
        loaded += page.items
        if not page.items or not page.has_more:
            return loaded


def _matches(session: Session, filters: dict[str, str]) -> bool:
    about, status = answers.about_of(session), filters.get("status", _ALL)
    if status in _PAUSED_STATUSES and answers.status_of(session) != status:
        return False
    return all(str(about.get(name, "")) == filters[name] for name in ("name", "image") if name in filters)


def _sort_key(session: Session, sort_by: str) -> Any:
    if sort_by == "created_at":
        return session.created_ms
    if sort_by == "updated_at":
        return session.updated_ms or session.created_ms
    if sort_by == "name":
        return str(answers.about_of(session).get("name", ""))
    return answers.status_of(session) if sort_by == "status" else session.id
