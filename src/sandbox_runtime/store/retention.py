"""What is old goes: in small steps, so that nobody waits long behind one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from sqlalchemy import ColumnElement, Connection, Table, delete, func, select

from sandbox_runtime.model import BoxState
from sandbox_runtime.model.execution import ENDED_EXECUTION_STATES
from sandbox_runtime.model.session import ENDED_SESSION_STATES
from sandbox_runtime.store.database import Database
from sandbox_runtime.store.tables import ARTIFACTS, AUDIT, BOXES, EXECUTIONS, SESSIONS

DAY_MS = 86_400_000
BATCH_ROWS = 200
"""Rows in one step. A session takes its executions along, so a step is larger than that."""


@dataclass(frozen=True, slots=True)
class RetentionPolicy:
    """How long what has ended is kept. A session that goes takes its executions, boxes and artifacts along, younger ones too;
    the age of executions is for those of sessions that live on. What has not ended never goes by age."""

    sessions_ms: int = 7 * DAY_MS
    executions_ms: int = 30 * DAY_MS
    artifacts_ms: int = 30 * DAY_MS
    boxes_ms: int = DAY_MS
    audit_ms: int = 90 * DAY_MS


@dataclass(frozen=True, slots=True)
class RetentionReport:
    """What went, by kind. more: the bound on steps was reached, and there is more that is old."""

    sessions: int = 0
    executions: int = 0
    artifacts: int = 0
    boxes: int = 0
    audit: int = 0
    more: bool = False


async def apply_retention(database: Database, now_ms: int, policy: RetentionPolicy, max_steps: int) -> RetentionReport:
    gone: dict[str, int] = {}
    steps = 0
    for kind, table, old in _retention_rules(now_ms, policy):
        gone[kind] = 0
        count = BATCH_ROWS
        while steps < max_steps and count == BATCH_ROWS:
            count = await database.write(partial(_delete_batch, table=table, old=old))
            gone[kind] += count
            steps += 1
    return RetentionReport(**gone, more=steps >= max_steps)


def _retention_rules(now_ms: int, policy: RetentionPolicy) -> list[tuple[str, Table, ColumnElement[bool]]]:
    gone = (BoxState.exited, BoxState.deleting)
    return [
        ("sessions", SESSIONS, _ended_before(SESSIONS, ENDED_SESSION_STATES, "f_completed_at", now_ms - policy.sessions_ms)),
        (
            "executions",
            EXECUTIONS,
            _ended_before(EXECUTIONS, ENDED_EXECUTION_STATES, "f_completed_at", now_ms - policy.executions_ms),
        ),
        ("artifacts", ARTIFACTS, ARTIFACTS.c.f_created_at < now_ms - policy.artifacts_ms),
        ("boxes", BOXES, _ended_before(BOXES, gone, "f_exited_at", now_ms - policy.boxes_ms)),
        ("audit", AUDIT, AUDIT.c.f_at < now_ms - policy.audit_ms),
    ]


def _ended_before(table: Table, states: tuple[object, ...], at: str, before_ms: int) -> ColumnElement[bool]:
    """What never noted when it ended is as old as its last change. The age at creation comes first because that is in an
    index."""
    ended = func.coalesce(table.c[at], table.c.f_updated_at)
    return table.c.f_status.in_(states) & (table.c.f_created_at < before_ms) & (ended < before_ms)


def _delete_batch(connection: Connection, *, table: Table, old: ColumnElement[bool]) -> int:
    key = table.c.f_id
    keys = connection.execute(select(key).where(old).limit(BATCH_ROWS)).scalars().all()
    return connection.execute(delete(table).where(key.in_(keys), old)).rowcount if keys else 0
