"""The store and how it is opened."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sqlalchemy import text

from sandbox_runtime.store.address import SQLITE, read_address
from sandbox_runtime.store.database import Database, StoreOptions
from sandbox_runtime.store.embedded import open_embedded
from sandbox_runtime.store.executions import Executions
from sandbox_runtime.store.migrating import bring_up_to_date, refuse_unknown
from sandbox_runtime.store.nodes import Agents, Nodes
from sandbox_runtime.store.records import Artifacts, Audit, Boxes, Keys
from sandbox_runtime.store.retention import Retained, RetentionPolicy, retain
from sandbox_runtime.store.served import open_served
from sandbox_runtime.store.sessions import Sessions
from sandbox_runtime.store.templates import Templates

MOST_RETENTION_STEPS = 500


class Store:
    """Everything that is remembered. Each method is one transaction; when it returns, what it wrote outlives this process."""

    def __init__(self, database: Database, kind: str, shown_url: str) -> None:
        self._database = database
        self.kind = kind
        self.shown_url = shown_url
        """Where it is, fit for logs: without the password."""
        self.sessions = Sessions(database)
        self.executions = Executions(database)
        self.templates = Templates(database)
        self.nodes = Nodes(database)
        self.agents = Agents(database)
        self.boxes = Boxes(database)
        self.artifacts = Artifacts(database)
        self.keys = Keys(database)
        self.audit = Audit(database)

    async def ping(self) -> None:
        """Returns when the database answers; raises Unavailable, TooMany or PlatformFault otherwise."""
        await self._database.read(lambda connection: connection.execute(text("SELECT 1")).scalar_one())

    async def retain(
        self, now_ms: int, policy: RetentionPolicy = RetentionPolicy(), most_steps: int = MOST_RETENTION_STEPS
    ) -> Retained:
        """Deletes what is old by now. Bounded: call it again when it says that there is more."""
        return await retain(self._database, now_ms, policy, most_steps)


@asynccontextmanager
async def open_store(url: str, options: StoreOptions = StoreOptions(), *, upgrade: bool = True) -> AsyncIterator[Store]:
    """Opens the database, making it first where it is a file that does not exist, and brings its tables up to date. upgrade=False
    refuses tables that are not: for deployments that change them at a time of their own."""
    address = read_address(url)
    opening = open_embedded if address.family == SQLITE else open_served
    async with opening(address, options) as database:
        await (bring_up_to_date if upgrade else refuse_unknown)(database)
        yield Store(database, address.family, address.shown)
