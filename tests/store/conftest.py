"""A store on each of three real databases. Servers are started once, from the system's packages; every test finds them empty."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
from sqlalchemy import Connection, MetaData, delete, text

from sandbox_runtime.store import Store, open_store
from sandbox_runtime.store.address import parse_address
from sandbox_runtime.store.store import open_database
from sandbox_runtime.store.tables import METADATA

SERVICES = Path(__file__).parents[2] / "scripts" / "services"
NOT_INSTALLED = 3


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def started(name: str) -> Iterator[str]:
    """The URL of a server, which ends with the tests. Its folder is where the server's own user can reach it."""
    try:
        pwd.getpwuid(os.geteuid())
    except KeyError:
        pytest.skip(f"{name} runs as a user with a name, which the user {os.geteuid()} has not")
    folder = tempfile.mkdtemp(prefix=f"store-{name}-")
    script = str(SERVICES / f"{name}.sh")
    try:
        # Output goes to a file: a pipe would stay open as long as the server.
        with tempfile.TemporaryFile("w+") as out:
            ended = subprocess.run([script, "start", folder, str(free_port())], stdout=out, stderr=subprocess.STDOUT, timeout=100)
            out.seek(0)
            told = out.read().strip()
        if ended.returncode == NOT_INSTALLED:
            pytest.skip(f"{told} (make setup does that where it may)")
        assert ended.returncode == 0, told
        yield told
    finally:
        subprocess.run([script, "stop", folder], check=True, timeout=60)
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def mariadb() -> Iterator[str]:
    yield from started("mariadb")


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    yield from started("postgres")


@pytest.fixture(params=["sqlite", "mariadb", "postgres"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/private/store.db"
    found: str = request.getfixturevalue(request.param)
    return found


@pytest_asyncio.fixture
async def bare_url(address: str) -> str:
    """Of a database without any tables."""
    await change(address, drop_tables)
    return address


@pytest_asyncio.fixture
async def url(address: str) -> str:
    """Of a database without any rows. Making tables anew for every test would take most of the time."""
    async with open_store(address):
        await change(address, empty_tables)
    return address


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/private/store.db"


@pytest_asyncio.fixture
async def store(url: str) -> AsyncIterator[Store]:
    async with open_store(url) as opened:
        yield opened


async def change(url: str, work: Callable[[Connection], None]) -> None:
    async with open_database(parse_address(url)) as database:
        await database.write(work)


def drop_tables(connection: Connection) -> None:
    found = MetaData()
    found.reflect(connection)
    found.drop_all(connection)


def empty_tables(connection: Connection) -> None:
    for table in reversed(METADATA.sorted_tables):
        connection.execute(delete(table))


async def ask(url: str, statement: str) -> list[tuple[object, ...]]:
    """What an operator would see who looks into the database."""
    async with open_database(parse_address(url)) as database:
        return await database.write(lambda connection: [tuple(row) for row in connection.execute(text(statement)).all()])
