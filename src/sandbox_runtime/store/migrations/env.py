"""Run by alembic for each upgrade. The connection comes from migrator.py, which also holds the lock and owns the transaction."""

from __future__ import annotations

from alembic import context

from sandbox_runtime.store.migrator import VERSION_TABLE
from sandbox_runtime.store.tables import METADATA

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    version_table=VERSION_TABLE,
    transactional_ddl=False,
)
with context.begin_transaction():
    context.run_migrations()
