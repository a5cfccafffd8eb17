"""Ten thousand of each: pages and filters find their rows by an index, on every database, as the database itself tells."""

from __future__ import annotations

import json
from typing import Any

import pytest
from sqlalchemy import Connection, event, insert
from tests.store import samples
from tests.store.conftest import change
from tests.store.samples import NOW_MS

from sandbox_runtime.model import ExecutionState, SessionState
from sandbox_runtime.store import ExecutionFilter, SessionFilter, Store, mappings, open_store
from sandbox_runtime.store.address import parse_address
from sandbox_runtime.store.executions import Executions
from sandbox_runtime.store.sessions import Sessions
from sandbox_runtime.store.store import open_database

MANY = 10_000
SESSIONS_WANTED = (
    SessionFilter(),
    SessionFilter(states=(SessionState.running,)),
    SessionFilter(owner="owner7"),
    SessionFilter(agent="agent3", states=(SessionState.running,)),
    SessionFilter(states=(SessionState.running,), idle_before_ms=NOW_MS - 9_990),
    SessionFilter(states=(SessionState.running,), expired_at_ms=NOW_MS - 9_990),
)
EXECUTIONS_WANTED = (
    ExecutionFilter(),
    ExecutionFilter(session="s00001"),
    ExecutionFilter(states=(ExecutionState.running,)),
    ExecutionFilter(states=(ExecutionState.running,), silent_since_ms=NOW_MS - 9_990),
)


def fill(connection: Connection) -> None:
    """Of a hundred sessions one runs, and each of a hundred owners has a hundredth."""
    sessions = [
        samples.session(
            f"s{n:05}",
            owner=f"owner{n % 100}",
            agent=f"agent{n % 1000}",
            state=SessionState.completed if n % 100 else SessionState.running,
            created_ms=NOW_MS + n,
            last_activity_ms=NOW_MS - n,
            expires_ms=NOW_MS - n,
        )
        for n in range(MANY)
    ]
    executions = [
        samples.execution(
            f"e{n:05}",
            f"s{n % 1000:05}",
            state=ExecutionState.completed if n % 100 else ExecutionState.running,
            created_ms=NOW_MS + n,
            heartbeat_ms=NOW_MS - n,
        )
        for n in range(MANY)
    ]
    for mapping, models in ((mappings.SESSION, sessions), (mappings.EXECUTION, executions)):
        for start in range(0, MANY, 1000):
            connection.execute(insert(mapping.table), [mapping.to_row(model) for model in models[start : start + 1000]])


async def test_ten_thousand_rows_are_listed_page_by_page_and_every_query_uses_an_index(url: str) -> None:
    await change(url, fill)
    await change(url, refresh_statistics)
    async with open_store(url) as store:
        await pages_are_right(store)
    plans = await plans_of(url)
    assert len(plans) >= 2 * (len(SESSIONS_WANTED) + len(EXECUTIONS_WANTED))
    # Counting everything is the one thing for which all of it must be gone through.
    everything = [statement for statement, _ in plans if "count(" in statement and "WHERE" not in statement]
    assert [(told, plan) for told, plan in plans if goes_through_all(plan) and told not in everything] == []


async def pages_are_right(store: Store) -> None:
    page = await store.sessions.list(limit=200, offset=5000)
    assert (page.total, page.items[0].id, page.items[-1].id) == (MANY, "s04999", "s04800")
    running = await store.sessions.list(SessionFilter(states=(SessionState.running,)), limit=60, offset=50)
    assert (running.total, len(running.items), running.items[0].id, running.has_more) == (100, 50, "s04900", False)
    mine = await store.sessions.list(SessionFilter(owner="owner7"), limit=10)
    assert (mine.total, mine.items[0].id) == (100, "s09907")
    runs = await store.executions.list(ExecutionFilter(session="s00001"), limit=5)
    assert (runs.total, [one.id for one in runs.items]) == (10, ["e09001", "e08001", "e07001", "e06001", "e05001"])
    seen, offset = set(), 0
    while True:
        page = await store.sessions.list(limit=1000, offset=offset)
        seen |= {one.id for one in page.items}
        if not page.has_more:
            break
        offset = page.next_offset
    assert len(seen) == MANY


def refresh_statistics(connection: Connection) -> None:
    for table in ("t_sandbox_session", "t_sandbox_execution"):
        connection.exec_driver_sql(f"ANALYZE TABLE {table}" if connection.dialect.name == "mysql" else f"ANALYZE {table}").close()


async def plans_of(url: str) -> list[tuple[str, str]]:
    """Every query of the listings, as the database would carry it out."""
    async with open_database(parse_address(url)) as database:
        return await database.write(explained)


def explained(connection: Connection) -> list[tuple[str, str]]:
    asked: list[tuple[str, Any]] = []

    def note(_connection: object, _cursor: object, statement: str, parameters: Any, _context: object, _many: bool) -> None:
        asked.append((statement, parameters))

    event.listen(connection, "before_cursor_execute", note)
    sessions, executions = Sessions.__new__(Sessions), Executions.__new__(Executions)
    for session_filter in SESSIONS_WANTED:
        sessions._page(connection, session_filter, 50, 0)
        sessions._count(connection, sessions._where(session_filter))
    for execution_filter in EXECUTIONS_WANTED:
        executions._page(connection, execution_filter, 50, 0)
        executions._count(connection, executions._where(execution_filter))
    event.remove(connection, "before_cursor_execute", note)
    how = {"sqlite": "EXPLAIN QUERY PLAN", "mysql": "EXPLAIN FORMAT=JSON", "postgresql": "EXPLAIN (FORMAT JSON)"}
    prefix = how[connection.dialect.name]
    return [(statement, plan_of(connection, f"{prefix} {statement}", parameters)) for statement, parameters in asked]


def plan_of(connection: Connection, statement: str, parameters: Any) -> str:
    return json.dumps([[str(value) for value in row] for row in connection.exec_driver_sql(statement, parameters).all()])


def goes_through_all(plan: str) -> bool:
    """A scan of the whole table, in the words of each database."""
    sqlite_scan = "SCAN t_sandbox" in plan and "USING" not in plan
    return sqlite_scan or '\\"access_type\\": \\"ALL\\"' in plan or "'Node Type': 'Seq Scan'" in plan or '"Seq Scan' in plan


@pytest.mark.parametrize(
    "plan",
    [
        '[["2", "0", "0", "SCAN t_sandbox_session"]]',
        json.dumps([['{"query_block": {"table": {"access_type": "ALL"}}}']]),
        json.dumps([["[{'Plan': {'Node Type': 'Seq Scan'}}]"]]),
    ],
)
def test_a_scan_is_known_when_seen(plan: str) -> None:
    """Otherwise the test above could not fail."""
    assert goes_through_all(plan)
