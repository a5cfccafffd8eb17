"""What repositories stand on: pieces of work, done in one transaction each.

A piece of work is a plain function of a SQLAlchemy connection. It may be done more than once before it counts (deadlocks are
retried), so it changes nothing but the database. A unique or foreign key that refuses a change reaches the caller as
IntegrityError, for only the repository knows what that means; every other failure arrives as one of our errors.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from sqlalchemy import Connection

Result = TypeVar("Result")
Transaction = Callable[[Connection], Result]
PREPARE_WAIT_S = 600.0
"""Longest wait for a change of tables, which takes the longer the more is in them."""


@dataclass(frozen=True, slots=True)
class StoreOptions:
    """pool_size, pool_overflow and pool_recycle_s are for servers; the embedded file needs none of them."""

    pool_size: int = 20
    pool_overflow: int = 40
    pool_recycle_s: int = 3600
    wait_s: float = 30.0
    """Longest wait for one piece of work: for a connection, for a lock, for the answer."""


class Database(Protocol):
    async def read(self, transaction: Transaction[Result]) -> Result:
        """Sees everything that was acknowledged before the call."""
        ...

    async def write(self, transaction: Transaction[Result]) -> Result:
        """When it returns, what was written outlives this process."""
        ...

    async def run_migration(self, transaction: Transaction[Result]) -> Result:
        """As write, but for changes of tables: one at a time among everybody who uses this database."""
        ...
