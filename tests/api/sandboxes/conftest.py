"""A server with sessions and keys on a real connection, and clients of two owners for its sandbox routes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
import pytest_asyncio
from tests.api.keys import new_key
from tests.api.servers import listening
from tests.conftest import skip_where_nothing_can_be_paused

from sandbox_runtime.assembly import Platform
from sandbox_runtime.settings import Settings


class Api(httpx.AsyncClient):
    platform: Platform

    async def request_json(self, method: str, path: str, status: int = 200, **options: Any) -> dict[str, Any]:
        answer = await self.request(method, path, **options)
        if answer.status_code == 501 and "cannot be paused" in answer.text:
            skip_where_nothing_can_be_paused()
        assert answer.status_code == status, (answer.status_code, answer.text)
        return dict(answer.json()) if answer.content else {}

    async def sandbox(self, **fields: Any) -> str:
        return str((await self.request_json("POST", "/api/v2/sandboxes", 201, json=fields))["id"])

    async def request_error(self, method: str, path: str, status: int, **options: Any) -> dict[str, Any]:
        """Send a request that must fail, and return its error."""
        answer = await self.request(method, path, **options)
        assert answer.status_code == status, (answer.status_code, answer.text)
        error = answer.json()["error"]
        assert error["code"] == status and error["message"] and error["timestamp"]
        assert error["request_id"] == answer.headers["x-request-id"]
        assert "Traceback" not in answer.text
        return dict(error)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def clients(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[Api, Api]]:
    settings = Settings(
        state_dir=str(tmp_path_factory.mktemp("state")),
        require_keys=True,
        max_request_bytes=3_000_000,
        session_file_max_bytes=16 * 1024 * 1024,
        check_languages=False,
        log_level="error",
    )
    async with listening(settings, sessions=True) as server:
        keys = [await new_key(server.platform, owner) for owner in ("ann", "bob")]
        async with (
            Api(base_url=server.url, timeout=60, headers=keys[0]) as ann,
            Api(base_url=server.url, timeout=60, headers=keys[1]) as bob,
        ):
            ann.platform = bob.platform = server.platform
            yield ann, bob


@pytest.fixture(scope="module")
def ann(clients: tuple[Api, Api]) -> Api:
    return clients[0]


@pytest.fixture(scope="module")
def bob(clients: tuple[Api, Api]) -> Api:
    return clients[1]
