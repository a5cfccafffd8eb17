"""Databases of a server of their own, MariaDB and PostgreSQL, through SQLAlchemy's asynchronous engine.

Commits are as durable as the server makes them. Everybody sees what was committed (READ COMMITTED); whoever changes a row that
was read names the version it saw, so that nobody's change is lost without word.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError, IntegrityError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from sandbox_runtime.errors import Unavailable
from sandbox_runtime.retry import Backoff, retry
from sandbox_runtime.store.address import MYSQL, Address
from sandbox_runtime.store.database import PREPARE_WAIT_S, Result, StoreOptions, Transaction
from sandbox_runtime.store.errors import is_retryable, to_sandbox_error

_BACKOFF = Backoff(retries=4, first_s=0.01, jitter=1.0)
"""Jitter of the whole wait: two deadlocked transactions must not collide again."""
_LOCK_NAME = "sandbox_runtime.tables"
_LOCK_NUMBER = 0x5A4D_B0F5
_LOCK_WAIT_S = 120
_CONNECT_WAIT_S = 10


class ServerDatabase:
    def __init__(self, address: Address, options: StoreOptions) -> None:
        self._address, self._wait_s = address, options.wait_s
        self._engine = _engine(address, options)

    async def read(self, transaction: Transaction[Result]) -> Result:
        return await self._run(transaction, self._wait_s)

    async def write(self, transaction: Transaction[Result]) -> Result:
        return await self._run(transaction, self._wait_s)

    async def run_migration(self, transaction: Transaction[Result]) -> Result:
        locked = _mysql_lock if self._address.family == MYSQL else _postgres_lock

        def alone(connection: Connection) -> Result:
            with locked(connection):
                return transaction(connection)

        return await self._run(alone, _LOCK_WAIT_S + PREPARE_WAIT_S)

    async def close(self) -> None:
        await self._engine.dispose()

    async def _run(self, transaction: Transaction[Result], wait_s: float) -> Result:
        try:
            async with asyncio.timeout(wait_s):
                return await self._run_with_retries(transaction)
        except IntegrityError:
            raise
        except (SQLAlchemyError, TimeoutError, OSError) as error:
            raise to_sandbox_error(error, self._address.display_url) from error

    async def _run_with_retries(self, transaction: Transaction[Result]) -> Result:
        return await retry(
            lambda: self._run_once(transaction),
            _BACKOFF,
            retry_error=lambda error: isinstance(error, DBAPIError) and is_retryable(error),
        )

    async def _run_once(self, transaction: Transaction[Result]) -> Result:
        async with self._engine.begin() as connection:
            return await connection.run_sync(transaction)


@asynccontextmanager
async def open_server(address: Address, options: StoreOptions) -> AsyncIterator[ServerDatabase]:
    database = ServerDatabase(address, options)
    try:
        yield database
    finally:
        await asyncio.shield(database.close())


def _engine(address: Address, options: StoreOptions) -> AsyncEngine:
    mysql = address.family == MYSQL
    return create_async_engine(
        address.url,
        pool_size=options.pool_size,
        max_overflow=options.pool_overflow,
        pool_recycle=options.pool_recycle_s,
        pool_timeout=options.wait_s,
        # A server that was started anew in between is no reason to fail.
        pool_pre_ping=True,
        hide_parameters=True,
        isolation_level="READ COMMITTED",
        connect_args={"connect_timeout" if mysql else "timeout": _CONNECT_WAIT_S, **({"charset": "utf8mb4"} if mysql else {})},
    )


@contextmanager
def _mysql_lock(connection: Connection) -> Iterator[None]:
    """MariaDB commits at every change of a table; this lock belongs to the connection and stays."""
    got = connection.execute(text("SELECT GET_LOCK(:name, :wait_s)"), {"name": _LOCK_NAME, "wait_s": _LOCK_WAIT_S}).scalar()
    if got != 1:
        raise Unavailable(f"another process has changed the tables for {_LOCK_WAIT_S} s; wait for it, or end it")
    try:
        yield
    finally:
        connection.execute(text("SELECT RELEASE_LOCK(:name)"), {"name": _LOCK_NAME}).close()


@contextmanager
def _postgres_lock(connection: Connection) -> Iterator[None]:
    """Given back at the end of the transaction."""
    connection.execute(text(f"SET LOCAL lock_timeout = '{_LOCK_WAIT_S}s'"))
    connection.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": _LOCK_NUMBER}).close()
    yield
