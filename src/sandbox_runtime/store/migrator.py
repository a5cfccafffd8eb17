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
_VERSION = Table(VERSION_TABLE, MetaData(), Column("version_num", String(32), primary_key=True))


@dataclass(frozen=True, slots=True)
class Revision:
    """found: None where there are no tables yet."""

    found: str | None
    newest: str = NEWEST

    @property
    def up_to_date(self) -> bool:
        return self.found == self.newest


async def revision_of(database: Database) -> Revision:
    return Revision(await database.read(_found))


async def bring_up_to_date(database: Database) -> Revision:
    """Whoever comes first does it; the others wait and find it done. Returns what was found."""
    before = await revision_of(database)
    if not before.up_to_date:
        await database.prepare(_upgrade)
    return before


async def take_back(database: Database, target: str) -> None:
    """For those who go back to an older version of this program. Raises InvalidRequest where a revision has no way back."""
    await database.prepare(lambda connection: _downgrade(connection, target))


async def refuse_unknown(database: Database) -> None:
    found = await revision_of(database)
    if not found.up_to_date:
        raise Unavailable(f"the tables are at revision {found.found}, not {found.newest}: run `sandbox db upgrade`")


def _found(connection: Connection) -> str | None:
    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    return connection.execute(select(_VERSION.c.version_num)).scalar()


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

    config, found = _config(connection), _found(connection)
    scripts = ScriptDirectory.from_config(config)
    known = [script.revision for script in scripts.walk_revisions()]
    if found not in known or target not in known[known.index(found) :]:
        raise InvalidRequest(f"the tables are at revision {found}: from there, one cannot go back to {target[:40]!r}")
    steps = scripts.iterate_revisions(found, target)
    stuck = next((step.revision for step in steps if not hasattr(step.module, "downgrade")), None)
    if stuck is not None:
        raise InvalidRequest(f"there is no way back from revision {stuck}: restore a copy of the database from before")
    command.downgrade(config, target)


def _upgrade(connection: Connection, target: str = "head") -> None:
    from alembic import command
    from alembic.script import ScriptDirectory

    config = _config(connection)
    found = _found(connection)
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if found is not None and found not in known:
        raise Unavailable(
            f"the tables are at revision {found}, which this version (up to {NEWEST}) does not know: a newer version has changed "
            "them. Install that version again, or restore a copy of the database from before"
        )
    # Alembic would make it with a name for its key, at which MariaDB warns every time.
    _VERSION.create(connection, checkfirst=True)
    command.upgrade(config, target)
