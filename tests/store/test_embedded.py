"""The file of the embedded database: who can read it, who else may write to it, and what happens when it is not one."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import stat
from pathlib import Path

import pytest
from tests.store import samples

from sandbox_runtime.errors import Conflict, InvalidRequest, NotFound, PlatformFault, TooMany, Unavailable, operator_text
from sandbox_runtime.store import StoreOptions, open_store


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


async def test_nobody_else_can_read_the_file_or_those_beside_it(sqlite_url: str, tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        async with open_store(sqlite_url) as store:
            await store.sessions.add(samples.session())
            folder = tmp_path / "private"
            assert mode_of(folder) == 0o700
            assert {path.name: mode_of(path) for path in folder.iterdir()} == {
                "store.db": 0o600,
                "store.db-wal": 0o600,
                "store.db-shm": 0o600,
            }
    finally:
        os.umask(before)


async def test_a_file_that_others_could_read_is_closed_to_them(sqlite_url: str, tmp_path: Path) -> None:
    file = tmp_path / "private" / "store.db"
    file.parent.mkdir(mode=0o700)
    file.touch()
    file.chmod(0o644)
    async with open_store(sqlite_url):
        assert mode_of(file) == 0o600


async def test_a_folder_that_others_may_write_to_is_refused(sqlite_url: str, tmp_path: Path) -> None:
    (tmp_path / "private").mkdir()
    (tmp_path / "private").chmod(0o777)
    with pytest.raises(InvalidRequest, match="others may write"):
        async with open_store(sqlite_url):
            pass


async def test_a_link_is_no_database(sqlite_url: str, tmp_path: Path) -> None:
    (tmp_path / "private").mkdir(mode=0o700)
    (tmp_path / "elsewhere").touch(mode=0o600)
    (tmp_path / "private" / "store.db").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InvalidRequest, match="is a link"):
        async with open_store(sqlite_url):
            pass


async def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(Unavailable, match="cannot be made"):
        async with open_store(f"sqlite:///{tmp_path}/file/store.db"):
            pass


async def test_a_file_that_is_no_database_is_told(sqlite_url: str, tmp_path: Path) -> None:
    file = tmp_path / "private" / "store.db"
    file.parent.mkdir(mode=0o700)
    file.write_bytes(b"not a database, but long enough to have a header" * 10)
    with pytest.raises(PlatformFault, match="the store failed") as told:
        async with open_store(sqlite_url):
            pass
    assert "DatabaseError" in operator_text(told.value) and str(file) not in str(told.value)


async def test_a_lock_that_another_process_keeps_is_told_and_passes(sqlite_url: str, tmp_path: Path) -> None:
    async with open_store(sqlite_url, StoreOptions(wait_s=0.5)) as store:
        other = sqlite3.connect(tmp_path / "private" / "store.db", isolation_level=None)
        try:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(TooMany):
                await store.sessions.add(samples.session())
            # Reading goes on meanwhile.
            assert (await store.sessions.list()).total == 0
            other.execute("ROLLBACK")
        finally:
            other.close()
        assert await store.sessions.add(samples.session()) == await store.sessions.get("s1")


async def test_what_fails_takes_nothing_else_along(sqlite_url: str) -> None:
    """Many changes at once share transactions, and each still has its own fate."""
    async with open_store(sqlite_url) as store:
        await store.sessions.add(samples.session())
        good = [store.executions.add(samples.execution(f"e{n}")) for n in range(100)]
        twice = [store.executions.add(samples.execution(f"e{n}")) for n in range(0, 100, 10)]
        orphans = [store.executions.add(samples.execution(f"o{n}", of="nobody")) for n in range(5)]
        ended = await asyncio.gather(*good, *twice, *orphans, return_exceptions=True)
        kinds = [type(one).__name__ for one in ended]
        assert kinds[:100] == ["Execution"] * 100
        assert all(isinstance(one, Conflict) for one in ended[100:110])
        assert all(isinstance(one, NotFound) for one in ended[110:])
        assert (await store.executions.list()).total == 100


async def test_a_caller_that_goes_away_leaves_the_store_working(sqlite_url: str) -> None:
    async with open_store(sqlite_url) as store:
        await store.sessions.add(samples.session())
        attempts = [asyncio.create_task(store.executions.add(samples.execution(f"e{n}"))) for n in range(50)]
        await asyncio.sleep(0)
        for task in attempts[::2]:
            task.cancel()
        ended = await asyncio.gather(*attempts, return_exceptions=True)
        assert all(isinstance(one, BaseException) or one.id for one in ended)
        assert all(not isinstance(one, BaseException) for one in ended[1::2])
        kept = await store.executions.count()
        assert 25 <= kept <= 50


async def test_everything_handed_over_is_written_before_the_store_closes(sqlite_url: str) -> None:
    async with open_store(sqlite_url) as store:
        await store.sessions.add(samples.session())
        writes = [asyncio.ensure_future(store.executions.add(samples.execution(f"e{n}"))) for n in range(200)]
        await asyncio.sleep(0)
    await asyncio.gather(*writes)
    async with open_store(sqlite_url) as store:
        assert await store.executions.count() == 200
    with pytest.raises(Unavailable, match="closed"):
        await store.sessions.add(samples.session("s2"))


async def test_the_log_beside_the_file_is_worked_off_when_nobody_writes(
    sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sandbox_runtime.store.writer_thread.CHECKPOINT_AFTER", 5)
    monkeypatch.setattr("sandbox_runtime.store.writer_thread._IDLE_S", 0.01)
    async with open_store(sqlite_url) as store:
        await store.sessions.add(samples.session())
        for number in range(20):
            await store.executions.add(samples.execution(f"e{number}", code="x" * 100_000))
        file = tmp_path / "private" / "store.db"
        async with asyncio.timeout(30):
            while file.stat().st_size < 20 * 100_000:
                await asyncio.sleep(0.02)
