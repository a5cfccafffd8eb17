"""Tables: made from nothing, brought on from an older revision, and left alone when they are newer than this code."""

from __future__ import annotations

import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Table, text
from tests.store import samples
from tests.store.conftest import ask, change

import sandbox_runtime.store.migrations as migrations
from sandbox_runtime.errors import Unavailable
from sandbox_runtime.store import current_revision, open_store, upgrade_tables
from sandbox_runtime.store.address import parse_address
from sandbox_runtime.store.migrator import NEWEST, VERSION_TABLE, _upgrade
from sandbox_runtime.store.store import open_database
from sandbox_runtime.store.tables import METADATA

OLD_ROW = (
    "INSERT INTO t_sandbox_session (f_id, f_status, f_mode, f_resources_cpu, f_resources_memory, f_resources_disk, "
    "f_resources_max_processes, f_timeout, f_dependency_install_status, f_created_at, f_updated_at) "
    "VALUES ('old', 'running', 'ephemeral', '1', '512Mi', '1Gi', 128, 300, 'pending', 1, 1)"
)


DIES_AFTER = """
import asyncio, os, signal, sys
from sandbox_runtime.store import upgrade_tables
from sandbox_runtime.store.migrations import steps

left, real = int(sys.argv[2]), steps.make_index

def make_index(*arguments):
    global left
    real(*arguments)
    left -= 1
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)

steps.make_index = make_index
asyncio.run(upgrade_tables(sys.argv[1]))
"""


async def migrate_to(url: str, target: str) -> None:
    async with open_database(parse_address(url)) as database:
        await database.run_migration(partial(_upgrade, target=target))


def test_the_newest_revision_is_the_last_of_the_folder() -> None:
    assert ScriptDirectory(str(Path(migrations.__file__).parent)).get_current_head() == NEWEST


async def test_an_empty_database_gets_every_table_as_it_is_declared(bare_url: str) -> None:
    before = await upgrade_tables(bare_url)
    assert (before.current, before.up_to_date) == (None, False)
    assert (await current_revision(bare_url)).up_to_date
    async with open_database(parse_address(bare_url)) as database:
        assert await database.read(differences) == []


def differences(connection: Connection) -> list[object]:
    """Between what the migrations made and what tables.py says."""
    options = {"include_object": ours, "compare_type": True, "compare_server_default": False}
    return list(compare_metadata(MigrationContext.configure(connection, opts=options), METADATA))


def ours(thing: object, name: str, kind: str, _reflected: bool, compare_to: object) -> bool:
    # MariaDB makes an index of its own for a foreign key that has none.
    return not (isinstance(thing, Table) and name == VERSION_TABLE) and not (kind == "index" and name.startswith("fk_"))


async def test_a_database_of_the_revision_before_is_brought_on_with_its_rows(bare_url: str) -> None:
    await migrate_to(bare_url, "r0001")
    assert (await current_revision(bare_url)).current == "r0001"
    await change(bare_url, lambda connection: connection.execute(text(OLD_ROW)).close())
    async with open_store(bare_url) as store:
        old = await store.sessions.get("old")
        assert (old.resources.memory_bytes, old.timeout_s, old.version) == (512 * 1024**2, 300.0, 0)
        await store.sessions.update(old, error="still works")
        await store.keys.add(samples.api_key())
    assert (await current_revision(bare_url)).up_to_date


async def test_a_revision_that_was_broken_off_is_finished(bare_url: str) -> None:
    """MariaDB commits at each change of a table: a process that dies leaves some of them."""
    await migrate_to(bare_url, "r0001")
    await change(bare_url, lambda connection: METADATA.tables["t_sandbox_api_key"].create(connection))
    async with open_store(bare_url) as store:
        await store.keys.add(samples.api_key())
        await store.audit.add(samples.entry())


@pytest.mark.parametrize("steps", [1, 9, 20])
async def test_a_server_killed_while_it_makes_the_tables_is_followed_by_one_that_finishes(bare_url: str, steps: int) -> None:
    killed = subprocess.run([sys.executable, "-c", DIES_AFTER, bare_url, str(steps)], capture_output=True, timeout=60)
    assert (killed.returncode, killed.stderr) == (-signal.SIGKILL, b"")
    async with open_store(bare_url) as store:
        await store.sessions.add(samples.session())
        await store.audit.add(samples.entry())
    async with open_database(parse_address(bare_url)) as database:
        assert await database.read(differences) == []


async def test_a_database_newer_than_this_code_is_refused_and_left_alone(bare_url: str) -> None:
    await upgrade_tables(bare_url)
    await change(
        bare_url, lambda connection: connection.execute(text(f"UPDATE {VERSION_TABLE} SET version_num = 'r9999'")).close()
    )
    with pytest.raises(Unavailable, match=r"revision r9999, which this version .* does not know"):
        async with open_store(bare_url):
            pass
    assert await ask(bare_url, f"SELECT version_num FROM {VERSION_TABLE}") == [("r9999",)]


async def test_tables_are_not_touched_where_the_operator_does_that(bare_url: str) -> None:
    with pytest.raises(Unavailable, match="sandbox db upgrade"):
        async with open_store(bare_url, upgrade=False):
            pass
    assert (await current_revision(bare_url)).current is None
    await upgrade_tables(bare_url)
    async with open_store(bare_url, upgrade=False) as store:
        await store.ping()


async def test_asking_for_the_revision_makes_no_file(sqlite_url: str, tmp_path: Path) -> None:
    assert (await current_revision(sqlite_url)).current is None
    assert list(tmp_path.iterdir()) == []
