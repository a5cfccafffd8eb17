"""`sandbox db`: show and change the revision of the database tables."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from sandbox_runtime.cli.flags import Config, Set, settings_from
from sandbox_runtime.settings import Settings

if TYPE_CHECKING:
    from sandbox_runtime.store import StoreOptions

EXIT_OUTDATED = 1


def register(app: typer.Typer) -> None:
    db = typer.Typer(help="Manage the tables of the database (setting database_url).", no_args_is_help=True)
    db.command("upgrade")(upgrade)
    db.command("downgrade")(downgrade)
    db.command("current", epilog=f"Exit code: 0 if up to date, else {EXIT_OUTDATED}.")(current)
    app.add_typer(db, name="db")


def upgrade(config: Config = None, sets: Set = None) -> None:
    """Upgrade the tables to this version. The server does the same when it starts."""
    from sandbox_runtime.store import upgrade_tables

    settings = settings_from(config, sets)
    before = asyncio.run(upgrade_tables(settings.store_url, _options(settings)))
    done = "is up to date" if before.up_to_date else f"was upgraded from {before.current or 'an empty database'}"
    print(f"{before.newest}: the database {done}")


def downgrade(
    revision: Annotated[str, typer.Argument(help="The target revision, such as r0005.")],
    config: Config = None,
    sets: Set = None,
) -> None:
    """Downgrade the tables, before installing an older version. Deletes what only newer revisions store. Stop servers first."""
    from sandbox_runtime.store import downgrade_tables

    settings = settings_from(config, sets)
    asyncio.run(downgrade_tables(settings.store_url, revision, _options(settings)))
    print(f"{revision}: the database was downgraded")


def current(config: Config = None, sets: Set = None) -> None:
    """Print the revision of the tables and the revision that this version needs."""
    from sandbox_runtime.store import current_revision

    settings = settings_from(config, sets)
    revision = asyncio.run(current_revision(settings.store_url, _options(settings)))
    print(f"{revision.current or 'no tables'} (this version needs {revision.newest})")
    raise typer.Exit(0 if revision.up_to_date else EXIT_OUTDATED)


def _options(settings: Settings) -> StoreOptions:
    from sandbox_runtime.store import StoreOptions

    return StoreOptions(settings.database_pool_size, settings.database_pool_overflow, settings.database_pool_recycle_s)
