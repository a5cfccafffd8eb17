"""The store and how it is opened."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from sqlalchemy import text

from sandbox_runtime.store.address import SQLITE, Address, parse_address
from sandbox_runtime.store.audit import Audit
from sandbox_runtime.store.batches import Batches
from sandbox_runtime.store.command_cache import CommandCache
from sandbox_runtime.store.database import Database, StoreOptions
from sandbox_runtime.store.embedded import open_embedded
from sandbox_runtime.store.executions import Executions
from sandbox_runtime.store.files import Files
from sandbox_runtime.store.metric_samples import Samples
from sandbox_runtime.store.migrator import Revision, downgrade_database, read_revision, require_newest, upgrade_database
from sandbox_runtime.store.nodes import Agents, Nodes
from sandbox_runtime.store.records import Artifacts, Boxes, Keys
from sandbox_runtime.store.retention import RetentionPolicy, RetentionReport, apply_retention
from sandbox_runtime.store.server_database import open_server
from sandbox_runtime.store.sessions import Sessions
from sandbox_runtime.store.templates import Templates

MAX_RETENTION_STEPS = 500


class Store:
    """Everything that is remembered. Each method is one transaction; when it returns, what it wrote outlives this process."""

    def __init__(self, database: Database, kind: str, display_url: str) -> None:
        self._database = database
        self.kind = kind
        self.display_url = display_url
        """Where it is, fit for logs: without the password."""
        self.sessions = Sessions(database)
        self.executions = Executions(database)
        self.templates = Templates(database)
        self.nodes = Nodes(database)
        self.agents = Agents(database)
        self.boxes = Boxes(database)
        self.artifacts = Artifacts(database)
        self.keys = Keys(database)
        self.batches = Batches(database)
        self.audit = Audit(database)
        self.files = Files(database)
        self.samples = Samples(database)
        self.command_cache = CommandCache(database)

    async def ping(self) -> None:
        """Returns when the database answers; raises Unavailable, TooMany or PlatformFault otherwise."""
        await self._database.read(lambda connection: connection.execute(text("SELECT 1")).scalar_one())

    async def apply_retention(
        self, now_ms: int, policy: RetentionPolicy = RetentionPolicy(), max_steps: int = MAX_RETENTION_STEPS
    ) -> RetentionReport:
        """Deletes what is old by now. Bounded: call it again when it says that there is more."""
        return await apply_retention(self._database, now_ms, policy, max_steps)


@asynccontextmanager
async def open_store(url: str, options: StoreOptions = StoreOptions(), *, upgrade: bool = True) -> AsyncIterator[Store]:
    """Opens the database, making it first where it is a file that does not exist, and brings its tables up to date. upgrade=False
    refuses tables that are not: for deployments that change them at a time of their own."""
    address = parse_address(url)
    async with open_database(address, options) as database:
        await (upgrade_database(database) if upgrade else require_newest(database))
        yield Store(database, address.family, address.display_url)


async def upgrade_tables(url: str, options: StoreOptions = StoreOptions()) -> Revision:
    """Brings the tables up to date and returns what was there before."""
    async with open_database(parse_address(url), options) as database:
        return await upgrade_database(database)


async def downgrade_tables(url: str, target: str, options: StoreOptions = StoreOptions()) -> None:
    """Takes newer revisions back, down to the one that is named. What only they know is gone afterwards."""
    async with open_database(parse_address(url), options) as database:
        await downgrade_database(database, target)


async def current_revision(url: str, options: StoreOptions = StoreOptions()) -> Revision:
    """Changes nothing, and makes no file where there is none."""
    address = parse_address(url)
    if address.family == SQLITE and not address.file.exists():
        return Revision(None)
    async with open_database(address, options) as database:
        return await read_revision(database)


def open_database(address: Address, options: StoreOptions = StoreOptions()) -> AbstractAsyncContextManager[Database]:
    return open_embedded(address, options) if address.family == SQLITE else open_server(address, options)
