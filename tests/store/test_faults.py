"""A database that fails: what callers are told, what they are not told, and that the store goes on when the database does."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from sqlalchemy import Connection, text
from tests.store import samples
from tests.store.conftest import change, drop_tables

from sandbox_runtime.errors import PlatformFault, TooMany
from sandbox_runtime.store import Store, StoreOptions, open_store, upgrade_tables
from sandbox_runtime.store.tables import METADATA

SECRET = "print('nobody else may read this')"


@pytest_asyncio.fixture
async def broken_url(bare_url: str) -> AsyncIterator[str]:
    """Of a database in which some tables are missing though its revision says otherwise. It is no use to others."""
    await upgrade_tables(bare_url)
    for table in ("t_sandbox_artifact", "t_sandbox_execution"):
        await change(bare_url, METADATA.tables[table].drop)
    yield bare_url
    await change(bare_url, drop_tables)


async def test_an_error_tells_nothing_of_what_was_to_be_written(broken_url: str) -> None:
    async with open_store(broken_url) as store:
        with pytest.raises(PlatformFault) as failed:
            await store.executions.add(samples.execution(code=SECRET, stdout=SECRET))
        told = "".join(traceback.format_exception(failed.value))
        assert "nobody else" not in told
        assert "sandbox-test" not in str(failed.value)
        # What has its tables still works.
        await store.sessions.add(samples.session())


@pytest.mark.parametrize("server", ["mariadb", "postgres"])
async def test_a_server_that_dropped_every_connection_is_reached_anew(server: str, request: pytest.FixtureRequest) -> None:
    url: str = request.getfixturevalue(server)
    async with open_store(url) as store:
        await asyncio.gather(*(store.ping() for _ in range(5)))
        await change(url, drop_other_connections)
        await store.ping()
        await store.sessions.count()


def drop_other_connections(connection: Connection) -> None:
    if connection.dialect.name == "postgresql":
        others = "FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()"
        connection.execute(text(f"SELECT pg_terminate_backend(pid) {others}")).close()
        return
    own = connection.execute(text("SELECT CONNECTION_ID()")).scalar_one()
    rows = connection.execute(text("SELECT ID FROM information_schema.PROCESSLIST WHERE DB = 'sandbox'")).scalars().all()
    for other in rows:
        if other != own:
            connection.execute(text(f"KILL {int(other)}")).close()


async def test_callers_that_go_away_leave_their_connections_to_others(url: str) -> None:
    options = StoreOptions(pool_size=2, pool_overflow=0, wait_s=20)
    async with open_store(url, options) as store:
        await store.sessions.add(samples.session())
        for round_number in range(5):
            attempts = [asyncio.create_task(store.executions.add(samples.execution(f"e{round_number}-{n}"))) for n in range(8)]
            await asyncio.sleep(0.002 * round_number)
            for task in attempts:
                task.cancel()
            await asyncio.gather(*attempts, return_exceptions=True)
        await asyncio.gather(*(store.ping() for _ in range(4)))


@pytest.mark.parametrize("server", ["mariadb", "postgres"])
async def test_a_row_that_somebody_keeps_locked_is_told_in_time(server: str, request: pytest.FixtureRequest) -> None:
    url: str = request.getfixturevalue(server)
    async with open_store(url) as patient, open_store(url, StoreOptions(wait_s=1)) as hasty:
        key = f"locked-by-{server}"
        if await patient.sessions.find(key) is not None:
            await patient.sessions.delete(key)
        session = await patient.sessions.add(samples.session(key))
        await told_while_locked(patient, hasty, session.id)
        assert (await hasty.sessions.update(session, error="free again")).version == 1


async def told_while_locked(patient: Store, hasty: Store, key: str) -> None:
    session = await patient.sessions.get(key)
    locked, release = asyncio.Event(), asyncio.Event()
    engine = patient._database._engine  # type: ignore[attr-defined]

    async def hold() -> None:
        async with engine.begin() as connection:
            await connection.execute(text("SELECT f_id FROM t_sandbox_session WHERE f_id = :key FOR UPDATE"), {"key": key})
            locked.set()
            await release.wait()

    holder = asyncio.create_task(hold())
    try:
        await asyncio.wait_for(locked.wait(), 10)
        with pytest.raises(TooMany, match="no answer in time"):
            await hasty.sessions.update(session, error="too soon")
    finally:
        release.set()
        await holder
