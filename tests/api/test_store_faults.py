"""Errors of a failing database do not reveal its address, user, path or statements."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
from tests.api.servers import RunningServer, listening

from sandbox_runtime.settings import Settings

pytestmark = pytest.mark.asyncio(loop_scope="module")

ASKED: list[tuple[str, str, Any]] = [
    ("GET", "/api/v1/sessions", None),
    ("POST", "/api/v1/sessions", {"template_id": "python-basic"}),
    ("GET", "/api/v1/sessions/sess_1", None),
    ("GET", "/api/v1/executions/exec_1", None),
    ("GET", "/api/v1/templates", None),
    ("GET", "/api/v1/audit", None),
    ("GET", "/api/v1/health/detailed", None),
    ("GET", "/api/v1/judge/batches", None),
    ("GET", "/api/v1/judge/batches/batch_1", None),
    ("GET", "/api/v2/sandboxes", None),
    ("POST", "/api/v2/sandboxes", {}),
    ("GET", "/api/v2/sandboxes/sess_1", None),
    ("GET", "/workspace/se/workspaces", None),
    ("GET", "/workspace/se/status/one", None),
    ("POST", "/workspace/se/execute/one", {"command": "true"}),
    ("DELETE", "/workspace/se/session/one", None),
    ("POST", "/get_prompts", {"dataset": "mbpp", "config": {}, "offset": 0, "limit": 1}),
    ("POST", "/submit", {"dataset": "mbpp", "id": 1, "completion": "x", "config": {}}),
]
ROWS_URL = "mysql://rows-user:rows-password@127.0.0.1:1/rows-name"
HIDDEN = ("rows-user", "rows-password", "127.0.0.1", "rows-name", "sqlite", "mysql:")
STATEMENTS = ("SELECT", "INSERT", "no such table", "t_sandbox")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[RunningServer, Path]]:
    """The store loses every table while the server runs, and the database of datasets is unreachable."""
    folder = tmp_path_factory.mktemp("state")
    settings = Settings(state_dir=str(folder), check_languages=False, log_level="error", datalake_url=ROWS_URL)
    async with listening(settings, sessions=True) as opened:
        file = next(folder.rglob("*.db"))
        with sqlite3.connect(file) as connection:
            connection.execute("PRAGMA foreign_keys = OFF")
            for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                connection.execute(f'DROP TABLE "{name}"')
        yield opened, folder


@pytest.mark.parametrize(("method", "path", "body"), ASKED)
async def test_a_failing_store_tells_clients_nothing_of_itself(
    server: tuple[RunningServer, Path], method: str, path: str, body: Any
) -> None:
    opened, folder = server
    async with httpx.AsyncClient(base_url=opened.url, timeout=60) as client:
        answer = await client.request(method, path, json=body)
    text = answer.text.replace(opened.url, "")
    assert not [word for word in (*HIDDEN, *STATEMENTS, str(folder)) if word in text], text


async def test_the_log_says_what_the_client_is_not_told(
    server: tuple[RunningServer, Path], caplog: pytest.LogCaptureFixture
) -> None:
    opened, folder = server
    async with httpx.AsyncClient(base_url=opened.url, timeout=60) as client:
        answer = await client.get("/api/v1/sessions/sess_1")
    assert answer.status_code >= 500 and "the store failed" in answer.text
    assert str(folder) in caplog.text and "no such table" in caplog.text
