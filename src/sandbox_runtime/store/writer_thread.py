"""The one thread that writes to the embedded database; embedded.py tells how it fits in."""

from __future__ import annotations

import queue
import sqlite3
import threading
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection

from sandbox_runtime.errors import TooMany, Unavailable
from sandbox_runtime.store.database import Transaction

MAX_BATCH = 64
MAX_QUEUED = 10_000
CHECKPOINT_AFTER = 1000
"""Transactions after which an idle writer makes a checkpoint."""
_IDLE_S = 0.5


@dataclass(slots=True)
class _PendingWrite:
    transaction: Transaction[Any]
    done: Future[Any] = field(default_factory=Future)


class Writer:
    """The one thread that writes. close() lets it finish what was handed over."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._tasks: queue.SimpleQueue[_PendingWrite | None] = queue.SimpleQueue()
        self._since_checkpoint = 0
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="store-writer", daemon=True)
        self._thread.start()

    def submit(self, transaction: Transaction[Any]) -> Future[Any]:
        if self._closed:
            raise Unavailable("the store is closed")
        if self._tasks.qsize() >= MAX_QUEUED:
            raise TooMany(f"{MAX_QUEUED} changes wait to be written", retry_after_s=1.0)
        task = _PendingWrite(transaction)
        self._tasks.put(task)
        return task.done

    def close(self, wait_s: float) -> None:
        self._closed = True
        self._tasks.put(None)
        self._thread.join(wait_s)

    def _run(self) -> None:
        with self._connection as connection:
            while (tasks := self._next_batch(connection)) is not None:
                self._run_batch(connection, tasks)

    def _next_batch(self, connection: Connection) -> list[_PendingWrite] | None:
        """At least one; None when there will be no more."""
        try:
            first = self._tasks.get(timeout=_IDLE_S if self._since_checkpoint >= CHECKPOINT_AFTER else None)
        except queue.Empty:
            self._checkpoint(connection)
            first = self._tasks.get()
        tasks = [first]
        while tasks[-1] is not None and len(tasks) < MAX_BATCH and not self._tasks.empty():
            tasks.append(self._tasks.get())
        if tasks[-1] is None:
            self._tasks.put(None)
        return [task for task in tasks if task is not None] or None

    def _run_batch(self, connection: Connection, tasks: list[_PendingWrite]) -> None:
        live = [task for task in tasks if task.done.set_running_or_notify_cancel()]
        try:
            answers = self._run_in_one(connection, live)
        except Exception as failure:
            self._run_separately(connection, live, failure)
            return
        for task, answer in zip(live, answers, strict=True):
            task.done.set_result(answer)

    def _run_in_one(self, connection: Connection, tasks: list[_PendingWrite]) -> list[Any]:
        with connection.begin():
            answers = [task.transaction(connection) for task in tasks]
        self._since_checkpoint += 1
        return answers

    def _run_separately(self, connection: Connection, tasks: list[_PendingWrite], failure: Exception) -> None:
        """One of them failed and everything was undone: whoever is not to blame gets a transaction of its own."""
        if len(tasks) == 1:
            tasks[0].done.set_exception(failure)
            return
        for task in tasks:
            try:
                answer = self._run_in_one(connection, [task])[0]
            except Exception as own:
                task.done.set_exception(own)
            else:
                task.done.set_result(answer)

    def _checkpoint(self, connection: Connection) -> None:
        """Whether it went all the way does not matter: the next one goes on. A disk that fails is told by the next write."""
        self._since_checkpoint = 0
        with suppress(sqlite3.Error):
            connection.connection.driver_connection.execute("PRAGMA wal_checkpoint(PASSIVE)").close()  # type: ignore[union-attr]
