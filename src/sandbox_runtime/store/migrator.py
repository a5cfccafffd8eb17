"""The tables' revision: which one a database has, and how it gets the newest.

Alembic is imported when there is something to change: a database that is up to date costs one query.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Column, Connection, MetaData, String, Table, inspect, select

from sandbox_runtime.errors import InvalidRequest, Unavailable
from sandbox_runtime.store.database import Database

if TYPE_CHECKING:
    from alembic.config import Config

NEWEST = "r0006"
"""The last revision in migrations/versions; a test holds it to that."""
VERSION_TABLE = "t_sandbox_revision"
_FOLDER = Path(__file__).with_name("migrations")
_VERSION_ROWS = Table(VERSION_TABLE, MetaData(), Column("version_num", String(32), primary_key=True))


@dataclass(frozen=True, slots=True)
class Revision:
    """found: None where there are no tables yet."""

    current: str | None
    newest: str = NEWEST

    @property
    def up_to_date(self) -> bool:
        return self.current == self.newest


async def read_revision(database: Database) -> Revision:
    return Revision(await database.read(_read_current))


async def upgrade_database(database: Database) -> Revision:
    """Whoever comes first does it; the others wait and find it done. Returns what was found."""
    before = await read_revision(database)
    if not before.up_to_date:
        await database.run_migration(_upgrade)
    return before


async def downgrade_database(database: Database, target: str) -> None:
    """For those who go back to an older version of this program. Raises InvalidRequest where a revision has no way back."""
    await database.run_migration(lambda connection: _downgrade(connection, target))


async def require_newest(database: Database) -> None:
    revision = await read_revision(database)
    if not revision.up_to_date:
        raise Unavailable(f"the tables are at revision {revision.current}, not {revision.newest}: run `sandbox db upgrade`")


def _read_current(connection: Connection) -> str | None:
    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    return connection.execute(select(_VERSION_ROWS.c.version_num)).scalar()


def _config(connection: Connection) -> Config:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_FOLDER).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


def _downgrade(connection: Connection, target: str) -> None:
    """What only newer revisions know is gone afterwards. Revisions before the one that first had a way back have none."""
    from alembic import command
    from alembic.script import ScriptDirectory

    config, current = _config(connection), _read_current(connection)
    scripts = ScriptDirectory.from_config(config)
    revisions = [script.revision for script in scripts.walk_revisions()]
    if current not in revisions or target not in revisions[revisions.index(current) :]:
        raise InvalidRequest(f"the tables are at revision {current}: from there, one cannot go back to {target[:40]!r}")
    steps = scripts.iterate_revisions(current, target)
    stuck = next((step.revision for step in steps if not hasattr(step.module, "downgrade")), None)
    if stuck is not None:
        raise InvalidRequest(f"there is no way back from revision {stuck}: restore a copy of the database from before")
    command.downgrade(config, target)


def _upgrade(connection: Connection, target: str = "head") -> None:
    from alembic import command
    from alembic.script import ScriptDirectory

    config = _config(connection)
    current = _read_current(connection)
    revisions = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if current is not None and current not in revisions:
        raise Unavailable(
            f"the tables are at revision {current}, which this version (up to {NEWEST}) does not know: a newer version has "
            "changed them. Install that version again, or restore a copy of the database from before"
        )
    # Alembic would make it with a name for its key, at which MariaDB warns every time.
    _VERSION_ROWS.create(connection, checkfirst=True)
    command.upgrade(config, target)
