"""What a sandbox used, added up from its executions."""

from __future__ import annotations

import contextlib
import time
from collections import Counter

from sandbox_runtime.api.dialects.sandboxes import telling, wire
from sandbox_runtime.api.dialects.sandboxes.answering import now
from sandbox_runtime.errors import SandboxError
from sandbox_runtime.model import Execution, Session, SessionState
from sandbox_runtime.model.limits import MIB
from sandbox_runtime.sessions import Sessions
from sandbox_runtime.store import ExecutionFilter

MOST_ADDED_UP = 1000
_AT_ONCE = 200
_MOST_FILES = 10_000


async def metrics(sessions: Sessions, sandbox_id: str, owner: str) -> wire.SandboxMetrics:
    session = await sessions.get(sandbox_id, owner)
    executions, complete = await _executions(sessions, sandbox_id, owner)
    used = [one.metering for one in executions if one.metering is not None]
    ended_ms = session.completed_ms or int(time.time() * 1000)
    return wire.SandboxMetrics(
        sandbox_id=session.id,
        state=telling.state_of(session, at_work=sessions.at_work(session.id)),
        uptime_seconds=max(0.0, (ended_ms - session.created_ms) / 1000),
        executions=dict(Counter(str(one.state) for one in executions)),
        complete=complete,
        cpu_usage_seconds=round(sum(one.cpu_time_ms or 0.0 for one in used) / 1000, 6),
        execution_seconds=round(sum(one.duration_ms for one in used) / 1000, 6),
        memory_peak_bytes=int(max((one.peak_memory_mb or 0.0 for one in used), default=0.0) * MIB),
        memory_limit_bytes=session.resources.memory_bytes,
        disk_usage_bytes=await _disk_bytes(sessions, session, owner),
        disk_limit_bytes=session.resources.disk_bytes,
        timestamp=now(),
    )


async def _executions(sessions: Sessions, sandbox_id: str, owner: str) -> tuple[list[Execution], bool]:
    """The newest, and whether these are all."""
    found: list[Execution] = []
    while len(found) < MOST_ADDED_UP:
        page = await sessions.executions(ExecutionFilter(session=sandbox_id), _AT_ONCE, len(found), owner)
        found += page.items
        if not page.items or not page.has_more:
            return found, True
    return found, False


async def _disk_bytes(sessions: Sessions, session: Session, owner: str) -> int | None:
    """None where its files are not at hand, or are more than can be counted now."""
    if session.state is not SessionState.running:
        return None
    with contextlib.suppress(SandboxError):
        listing = await (await sessions.files(session.id, owner)).list("", recursive=True, limit=_MOST_FILES)
        return None if listing.truncated else sum(entry.size_bytes for entry in listing.entries)
    return None
