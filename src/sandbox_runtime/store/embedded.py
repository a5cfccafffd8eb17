"""The embedded database: one SQLite file in WAL mode.
 Theory of operation. One thread of this process writes, a few read, and the event loop does neither: it hands over a piece of work
and waits for its future. The writer takes whatever has gathered while it was busy and does it in one transaction; when a piece
fails, that is undone and each gets one of its own, so that none takes another with it. Futures are resolved after the commit alone.
Other processes may use the same file: a transaction that writes begins with IMMEDIATE and waits its turn, and in WAL mode readers
wait for nobody.

A commit appends to the WAL and does not sync (synchronous NORMAL). What was acknowledged is then in the kernel's hands: it
survives the death of this process, kill -9 included. A machine that loses power may lose the last commits, never the file's
consistency. Syncing is left to checkpoints, which the writer makes when nobody waits for it.
 Why no asynchronous driver: it would hand over each single call of SQLite to a thread (begin, cursor, execute, commit …) where
this hands over whole transactions.
"""

from __future__ import annotations

import asyncio
import os
import queue
import stat
import threading
from collections.abc import AsyncIterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.exc import IntegrityError, SQLAlchemyError
from sqlalchemy.pool import QueuePool

from sandbox_runtime.errors import InvalidRequest, TooMany, Unavailable
from sandbox_runtime.store.address import Address
from sandbox_runtime.store.database import Answer, StoreOptions, Work
from sandbox_runtime.store.faults import translated

READERS = 4
MOST_TOGETHER = 64
MOST_WAITING = 10_000
CHECKPOINT_AFTER = 1000
"""Transactions after which an idle writer makes a checkpoint."""
CHECKPOINT_BYTES = 64 * 1024 * 1024
"""The WAL is checkpointed at this size even by a writer that is never idle, and cut to it."""
_IDLE_S = 0.5
_PAGE_BYTES = 4096
# Of the longest wait; the rest is for the work itself, so that a lock is told as what it is.
_LOCK_SHARE = 0.8


@dataclass(slots=True)
class _Task:
    work: Work[Any]
    done: Future[Any] = field(default_factory=Future)


class _Writer:
    """The one thread that writes. close() lets it finish what was handed over."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._tasks: queue.SimpleQueue[_Task | None] = queue.SimpleQueue()
        self._since_checkpoint = 0
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="store-writer", daemon=True)
        self._thread.start()

    def submit(self, work: Work[Any]) -> Future[Any]:
        if self._closed:
            raise Unavailable("the store is closed")
        if self._tasks.qsize() >= MOST_WAITING:
            raise TooMany(f"{MOST_WAITING} changes wait to be written", retry_after_s=1.0)
        task = _Task(work)
        self._tasks.put(task)
        return task.done

    def close(self, wait_s: float) -> None:
        self._closed = True
        self._tasks.put(None)
        self._thread.join(wait_s)

    def _run(self) -> None:
        with self._connection as connection:
            while (tasks := self._next(connection)) is not None:
                self._do(connection, tasks)

    def _next(self, connection: Connection) -> list[_Task] | None:
        """At least one; None when there will be no more."""
        try:
            first = self._tasks.get(timeout=_IDLE_S if self._since_checkpoint >= CHECKPOINT_AFTER else None)
        except queue.Empty:
            self._checkpoint(connection)
            first = self._tasks.get()
        tasks = [first]
        while tasks[-1] is not None and len(tasks) < MOST_TOGETHER and not self._tasks.empty():
            tasks.append(self._tasks.get())
        if tasks[-1] is None:
            self._tasks.put(None)
        return [task for task in tasks if task is not None] or None

    def _do(self, connection: Connection, tasks: list[_Task]) -> None:
        live = [task for task in tasks if task.done.set_running_or_notify_cancel()]
        try:
            answers = self._together(connection, live)
        except Exception as failure:
            self._each_alone(connection, live, failure)
            return
        for task, answer in zip(live, answers, strict=True):
            task.done.set_result(answer)

    def _together(self, connection: Connection, tasks: list[_Task]) -> list[Any]:
        with connection.begin():
            answers = [task.work(connection) for task in tasks]
        self._since_checkpoint += 1
        return answers

    def _each_alone(self, connection: Connection, tasks: list[_Task], failure: Exception) -> None:
        """One of them failed and everything was undone: whoever is not to blame gets a transaction of its own."""
        if len(tasks) == 1:
            tasks[0].done.set_exception(failure)
            return
        for task in tasks:
            try:
                answer = self._together(connection, [task])[0]
            except Exception as own:
                task.done.set_exception(own)
            else:
                task.done.set_result(answer)

    def _checkpoint(self, connection: Connection) -> None:
        """Whether it went all the way does not matter: the next one goes on."""
        self._since_checkpoint = 0
        connection.connection.driver_connection.execute("PRAGMA wal_checkpoint(PASSIVE)")  # type: ignore[union-attr]


class EmbeddedDatabase:
    """Opens the file when it is made, which may block."""

    def __init__(self, address: Address, options: StoreOptions) -> None:
        make_file(address.file)
        self._shown, self._wait_s = address.shown, options.wait_s
        self._writing = _engine(address, options, writes=True)
        self._reading = _engine(address, options, writes=False)
        try:
            self._writer = _Writer(self._writing.connect())
        except SQLAlchemyError as error:
            raise translated(error, self._shown) from error
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="store-reader")

    async def read(self, work: Work[Answer]) -> Answer:
        return await self._answer(self._readers.submit(self._look, work))

    async def write(self, work: Work[Answer]) -> Answer:
        return await self._answer(self._writer.submit(work))

    async def prepare(self, work: Work[Answer]) -> Answer:
        # A transaction that writes excludes every other, so there is nothing more to do.
        return await self.write(work)

    async def close(self) -> None:
        await asyncio.to_thread(self._writer.close, self._wait_s)
        await asyncio.to_thread(self._readers.shutdown)
        self._reading.dispose()
        self._writing.dispose()

    def _look(self, work: Work[Answer]) -> Answer:
        with self._reading.connect() as connection, connection.begin():
            return work(connection)

    async def _answer(self, done: Future[Answer]) -> Answer:
        try:
            async with asyncio.timeout(self._wait_s):
                return await asyncio.wrap_future(done)
        except IntegrityError:
            raise
        except (SQLAlchemyError, TimeoutError, OSError) as error:
            raise translated(error, self._shown) from error


@asynccontextmanager
async def open_embedded(address: Address, options: StoreOptions) -> AsyncIterator[EmbeddedDatabase]:
    database = await asyncio.to_thread(EmbeddedDatabase, address, options)
    try:
        yield database
    finally:
        await asyncio.shield(database.close())


def make_file(path: Path) -> None:
    """Readable by its owner alone, in a folder where nobody else can put another in its place. SQLite gives the files beside it
    the same rights."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder = path.parent.stat()
    if folder.st_mode & 0o022 and not folder.st_mode & stat.S_ISVTX:
        raise InvalidRequest(f"others may write to the folder of the database, {path.parent}: chmod go-w it, or name another")
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise Unavailable(f"the database file {path} cannot be opened: {error.strerror}") from error
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise InvalidRequest(f"{path} is no file, so it cannot be the database")
        if found.st_mode & 0o077:
            os.fchmod(descriptor, 0o600)
    finally:
        os.close(descriptor)


def _engine(address: Address, options: StoreOptions, *, writes: bool) -> Engine:
    engine = create_engine(
        address.url,
        poolclass=QueuePool,
        pool_size=1 if writes else READERS,
        max_overflow=0,
        pool_timeout=options.wait_s,
        hide_parameters=True,
        connect_args={"check_same_thread": False, "timeout": options.wait_s * _LOCK_SHARE},
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
