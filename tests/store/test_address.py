"""URLs: what they may be, and that no password leaves them."""

from __future__ import annotations

import traceback
from pathlib import Path

import pytest

from sandbox_runtime.errors import InvalidRequest, SandboxError, Unavailable, operator_text
from sandbox_runtime.store import open_store
from sandbox_runtime.store.address import parse_address

PASSWORD = "hunter2-hunter2"


@pytest.mark.parametrize(
    ("given", "family", "shown"),
    [
        ("sqlite:////srv/store.db", "sqlite", "sqlite:////srv/store.db"),
        ("sqlite+aiosqlite:////srv/store.db", "sqlite", "sqlite:////srv/store.db"),
        (f"mysql://u:{PASSWORD}@h:3306/adp", "mysql", "mysql://u:***@h:3306/adp"),
        (f"mysql+aiomysql://u:{PASSWORD}@h/adp?charset={PASSWORD}", "mysql", "mysql://u:***@h/adp"),
        (f"mariadb://u:{PASSWORD}@h/adp", "mysql", "mysql://u:***@h/adp"),
        (f"postgres://u:{PASSWORD}@h/x", "postgresql", "postgresql://u:***@h/x"),
        (f"postgresql+asyncpg://u:{PASSWORD}@h/x", "postgresql", "postgresql://u:***@h/x"),
    ],
)
def test_urls_of_other_deployments_work_whatever_driver_they_name(given: str, family: str, shown: str) -> None:
    address = parse_address(given)
    assert (address.family, address.display_url) == (family, shown)


def test_a_relative_file_is_below_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert parse_address("sqlite:///store.db").file == tmp_path / "store.db"


@pytest.mark.parametrize(
    "given",
    [
        "",
        "store.db",
        f"oracle://u:{PASSWORD}@h/x",
        f"mysql//u:{PASSWORD}@h/x",
        f"mysql://u:{PASSWORD}@h:port/x",
        f"mysql://u:{PASSWORD}@h",
        f"sqlite:///x.db?mode={PASSWORD}",
        "sqlite://",
        "sqlite:///:memory:",
    ],
)
def test_what_is_no_url_of_a_database_is_refused_without_being_repeated(given: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        parse_address(given)
    told = "".join(traceback.format_exception(refused.value))
    assert PASSWORD not in str(refused.value)
    assert "sqlite:////folder/file.db" in str(refused.value), told


@pytest.mark.parametrize("scheme", ["mysql", "postgresql"])
async def test_a_server_that_is_not_there_is_unavailable_and_its_password_stays_hidden(scheme: str) -> None:
    with pytest.raises(Unavailable, match="the store is unavailable") as refused:
        async with open_store(f"{scheme}://user:{PASSWORD}@127.0.0.1:1/x"):
            pass
    for hidden in (PASSWORD, "user", "127.0.0.1", scheme):
        assert hidden not in str(refused.value)
    told = operator_text(refused.value)
    assert "cannot be reached" in told and "user" in told and PASSWORD not in told


@pytest.mark.parametrize("server", ["mariadb", "postgres"])
async def test_a_wrong_password_and_a_missing_database_are_told(server: str, request: pytest.FixtureRequest) -> None:
    url: str = request.getfixturevalue(server)
    for wrong in (url.replace("sandbox-test", PASSWORD), f"{url}-missing"):
        with pytest.raises(SandboxError) as refused:
            async with open_store(wrong):
                pass
        assert isinstance(refused.value, Unavailable)
        assert PASSWORD not in str(refused.value)
