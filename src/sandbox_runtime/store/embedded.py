"""The embedded database: one SQLite file in WAL mode.

Theory of operation. One thread of this process writes, a few read, and the event loop does neither: it hands over a piece of work
and waits for its future. The writer takes whatever has gathered while it was busy and does it in one transaction; when a piece
fails, that is undone and each gets one of its own, so none takes another with it. Futures are resolved after the commit alone.
Other processes may use the same file: a transaction that writes begins with IMMEDIATE and waits its turn, and in WAL mode readers
wait for nobody.

A commit appends to the WAL and does not sync (synchronous NORMAL). What was acknowledged is then in the kernel's hands: it
survives the death of this process, kill -9 included. A machine that loses power may lose the last commits, never the file's
consistency. Syncing is left to checkpoints, which the writer makes when nobody waits for it.

Why no asynchronous driver: it would hand over each single call of SQLite to a thread (begin, cursor, execute, commit …) where
this hands over whole transactions, which takes about a third of the time.
"""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import AsyncIterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.exc import IntegrityError, SQLAlchemyError
from sqlalchemy.pool import QueuePool

from sandbox_runtime.errors import InvalidRequest, Unavailable
from sandbox_runtime.store.address import Address
from sandbox_runtime.store.database import PREPARE_WAIT_S, Result, StoreOptions, Transaction
from sandbox_runtime.store.errors import to_sandbox_error
from sandbox_runtime.store.writer_thread import Writer

READERS = 4
CHECKPOINT_BYTES = 64 * 1024 * 1024
"""The WAL is checkpointed at this size even by a writer that is never idle, and cut to it."""
_PAGE_BYTES = 4096
# Of the longest wait; the rest is for the work itself, so that a lock is told as what it is.
_LOCK_WAIT_SHARE = 0.8


class EmbeddedDatabase:
    """Opens the file when it is made, which may block."""

    def __init__(self, address: Address, options: StoreOptions) -> None:
        create_file(address.file)
        self._display_url, self._wait_s = address.display_url, options.wait_s
        self._write_engine = _engine(address, options, writes=True)
        self._read_engine = _engine(address, options, writes=False)
        try:
            self._writer = Writer(self._write_engine.connect())
        except SQLAlchemyError as error:
            raise to_sandbox_error(error, self._display_url) from error
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="store-reader")

    async def read(self, transaction: Transaction[Result]) -> Result:
        return await self._wait(self._readers.submit(self._read, transaction), self._wait_s)

    async def write(self, transaction: Transaction[Result]) -> Result:
        return await self._wait(self._writer.submit(transaction), self._wait_s)

    async def run_migration(self, transaction: Transaction[Result]) -> Result:
        # A transaction that writes excludes every other, so there is nothing more to do.
        return await self._wait(self._writer.submit(transaction), PREPARE_WAIT_S)

    async def close(self) -> None:
        await asyncio.to_thread(self._writer.close, self._wait_s)
        await asyncio.to_thread(self._readers.shutdown)
        self._read_engine.dispose()
        self._write_engine.dispose()

    def _read(self, transaction: Transaction[Result]) -> Result:
        with self._read_engine.connect() as connection, connection.begin():
            return transaction(connection)

    async def _wait(self, done: Future[Result], wait_s: float) -> Result:
        try:
            async with asyncio.timeout(wait_s):
                return await asyncio.wrap_future(done)
        except IntegrityError:
            raise
        except (SQLAlchemyError, TimeoutError, OSError) as error:
            raise to_sandbox_error(error, self._display_url) from error


@asynccontextmanager
async def open_embedded(address: Address, options: StoreOptions) -> AsyncIterator[EmbeddedDatabase]:
    database = await asyncio.to_thread(EmbeddedDatabase, address, options)
    try:
        yield database
    finally:
        await asyncio.shield(database.close())


def create_file(path: Path) -> None:
    """Readable by its owner alone, in a folder where nobody else can put another in its place. SQLite gives the files beside it
    the same rights. A file that exists is not opened: closing it again would drop the locks that this process has on it."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _check_folder_mode(path.parent)
        if os.path.lexists(path):
            _make_private(path)
        else:
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except FileExistsError as error:
        # Whoever was quicker makes it right; a file in the folder's place does not.
        if not path.parent.is_dir():
            raise Unavailable(f"the database file {path} cannot be made: {path.parent} is no folder") from error
    except OSError as error:
        raise Unavailable(f"the database file {path} cannot be made: {error.strerror}") from error


def _check_folder_mode(folder: Path) -> None:
    mode = folder.stat().st_mode
    if mode & 0o022 and not mode & stat.S_ISVTX:
        raise InvalidRequest(f"others may write to the folder of the database, {folder}: chmod go-w it, or name another")


def _make_private(path: Path) -> None:
    found = path.lstat()
    if not stat.S_ISREG(found.st_mode):
        raise InvalidRequest(f"{path} is a link or no file at all, so it cannot be the database")
    if found.st_uid not in (os.geteuid(), 0):
        raise InvalidRequest(f"the database file {path} belongs to another user")
    if found.st_mode & 0o077:
        path.chmod(0o600)


def _engine(address: Address, options: StoreOptions, *, writes: bool) -> Engine:
    engine = create_engine(
        address.url,
        poolclass=QueuePool,
        pool_size=1 if writes else READERS,
        max_overflow=0,
        pool_timeout=options.wait_s,
        hide_parameters=True,
        connect_args={"check_same_thread": False, "timeout": options.wait_s * _LOCK_WAIT_SHARE},
    )
    event.listen(engine, "connect", _configure if writes else _configure_reader)
    event.listen(engine, "begin", _begin_immediate if writes else _begin)
    return engine


def _configure(connection: Any, _record: object) -> None:
    # The driver's own idea of transactions is switched off: _begin says where one starts.
    connection.isolation_level = None
    for pragma in (
        "journal_mode = WAL",
        "synchronous = NORMAL",
        "foreign_keys = ON",
        f"wal_autocheckpoint = {CHECKPOINT_BYTES // _PAGE_BYTES}",
        f"journal_size_limit = {CHECKPOINT_BYTES}",
        "cache_size = -16384",
    ):
        connection.execute(f"PRAGMA {pragma}").close()


def _configure_reader(connection: Any, record: object) -> None:
    _configure(connection, record)
    connection.execute("PRAGMA query_only = ON").close()


def _begin_immediate(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE")


def _begin(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN")
