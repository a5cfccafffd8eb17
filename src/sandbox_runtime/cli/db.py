"""`sandbox db`: the revision of the tables, and how to bring them up to date."""

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
    db = typer.Typer(help="The tables of the database that the setting database_url names.", no_args_is_help=True)
    db.command("upgrade")(upgrade)
    db.command("downgrade")(downgrade)
    db.command("current", epilog=f"Exit code: 0 up to date, {EXIT_OUTDATED} not.")(current)
    app.add_typer(db, name="db")


def upgrade(config: Config = None, sets: Set = None) -> None:
    """Bring the tables up to date. The server does the same when it starts."""
    from sandbox_runtime.store import upgrade_tables

    settings = settings_from(config, sets)
    before = asyncio.run(upgrade_tables(settings.store_url, _options(settings)))
    done = "is up to date" if before.up_to_date else f"was brought up to date from {before.current or 'nothing'}"
    print(f"{before.newest}: the database {done}")


def downgrade(
    revision: Annotated[str, typer.Argument(help="The revision to go back to, such as r0005.")],
    config: Config = None,
    sets: Set = None,
) -> None:
    """Take newer revisions back, before going back to an older version. What only they hold is gone. Stop servers first."""
    from sandbox_runtime.store import downgrade_tables

    settings = settings_from(config, sets)
    asyncio.run(downgrade_tables(settings.store_url, revision, _options(settings)))
    print(f"{revision}: the database was taken back")


def current(config: Config = None, sets: Set = None) -> None:
    """Print the revision of the tables and the one that this version needs. Changes nothing."""
    from sandbox_runtime.store import current_revision

    settings = settings_from(config, sets)
    revision = asyncio.run(current_revision(settings.store_url, _options(settings)))
    print(f"{revision.current or 'no tables'} (this version needs {revision.newest})")
    raise typer.Exit(0 if revision.up_to_date else EXIT_OUTDATED)


def _options(settings: Settings) -> StoreOptions:
    from sandbox_runtime.store import StoreOptions

    return StoreOptions(settings.database_pool_size, settings.database_pool_overflow, settings.database_pool_recycle_s)
