"""Remembers and recalls model objects: an SQLite file by default, MariaDB or PostgreSQL by URL.

async with open_store("sqlite:////var/lib/sandbox-runtime/store.db") as store:
    session = await store.sessions.add(Session(id="s1", created_ms=…))
    session = await store.sessions.update(session, state=SessionState.running)

Contract: takes and returns model types, never rows; no SQL, no SQLAlchemy and no alembic anywhere else. What was returned from
a call that writes outlives this process, kill -9 included. Two who change the same thing at once are told: update() compares
versions, update_if() states, and the one who comes second gets Conflict. What is missing is NotFound, what exists already is
Conflict; a database that cannot be reached is Unavailable, one that is busy TooMany. No text that this room raises or logs
holds a password, code or output.
"""

from sandbox_runtime.store.audit import AuditFilter
from sandbox_runtime.store.batches import BatchFilter
from sandbox_runtime.store.database import StoreOptions
from sandbox_runtime.store.executions import ExecutionFilter
from sandbox_runtime.store.files import FileDeleted, FileRead
from sandbox_runtime.store.metric_samples import SamplePolicy, aggregate
from sandbox_runtime.store.migrator import Revision
from sandbox_runtime.store.nodes import NodeFilter
from sandbox_runtime.store.page import Page
from sandbox_runtime.store.records import ArtifactFilter, BoxFilter, KeyFilter
from sandbox_runtime.store.retention import RetentionPolicy, RetentionReport
from sandbox_runtime.store.sessions import SessionFilter
from sandbox_runtime.store.store import Store, current_revision, downgrade_tables, open_store, upgrade_tables
from sandbox_runtime.store.templates import TemplateFilter

__all__ = [
    "ArtifactFilter",
    "AuditFilter",
    "BatchFilter",
    "BoxFilter",
    "ExecutionFilter",
    "FileDeleted",
    "FileRead",
    "KeyFilter",
    "NodeFilter",
    "Page",
    "RetentionPolicy",
    "RetentionReport",
    "Revision",
    "SamplePolicy",
    "SessionFilter",
    "Store",
    "StoreOptions",
    "TemplateFilter",
    "aggregate",
    "current_revision",
    "downgrade_tables",
    "open_store",
    "upgrade_tables",
]
