"""`sandbox db` as an operator uses it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.commands import sandbox
from tests.store.conftest import change, drop_tables

from sandbox_runtime.store.migrator import NEWEST


def test_tables_are_made_and_told(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/private/store.db"
    before = sandbox("db", "current", SANDBOX_DATABASE_URL=url)
    assert (before.returncode, before.stdout.decode().split("(")[0].strip()) == (1, "no tables")
    made = sandbox("db", "upgrade", SANDBOX_DATABASE_URL=url)
    assert (made.returncode, made.stdout.decode()) == (0, f"{NEWEST}: the database was upgraded from an empty database\n")
    again = sandbox("db", "upgrade", SANDBOX_DATABASE_URL=url)
    assert again.stdout.decode() == f"{NEWEST}: the database is up to date\n"
    after = sandbox("db", "current", SANDBOX_DATABASE_URL=url)
    assert (after.returncode, after.stdout.decode()) == (0, f"{NEWEST} (this version needs {NEWEST})\n")


@pytest.mark.parametrize("server", ["mariadb", "postgres"])
async def test_tables_are_made_on_a_server_without_a_word_too_many(server: str, request: pytest.FixtureRequest) -> None:
    url: str = request.getfixturevalue(server)
    await change(url, drop_tables)
    made = sandbox("db", "upgrade", SANDBOX_DATABASE_URL=url)
    assert (made.returncode, made.stderr) == (0, b"")
    assert sandbox("db", "current", SANDBOX_DATABASE_URL=url).returncode == 0


def test_without_a_url_the_file_lies_with_the_state_that_was_set(tmp_path: Path) -> None:
    made = sandbox("db", "upgrade", "--set", f"state_dir={tmp_path}/state")
    assert made.returncode == 0, made.stderr
    assert (tmp_path / "state" / "store" / "store.db").is_file()


def test_a_password_is_shown_neither_in_errors_nor_in_settings() -> None:
    url = "mysql://user:hunter2-hunter2@127.0.0.1:1/x"
    failed = sandbox("db", "current", SANDBOX_DATABASE_URL=url)
    assert failed.returncode == 69
    shown = sandbox("settings", "--json", SANDBOX_DATABASE_URL=url)
    assert b"hunter2" not in failed.stderr + failed.stdout + shown.stdout + shown.stderr
    assert b"cannot be reached" in failed.stderr
