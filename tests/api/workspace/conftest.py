"""A server with sessions in this process, and a client for its workspace routes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import httpx
import pytest
import pytest_asyncio

from sandbox_runtime.api.app import create_app
from sandbox_runtime.assembly import Platform, open_platform
from sandbox_runtime.settings import Settings

PREFIX = "/workspace/se"


class Workspace(httpx.AsyncClient):
    platform: Platform

    async def request_json(self, method: str, path: str, **options: Any) -> dict[str, Any]:
        answer = await self.request(method, f"{PREFIX}{path}", **options)
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    async def execute(self, session: str, **body: Any) -> dict[str, Any]:
        return await self.request_json("POST", f"/execute/{session}", json=body)

    async def script(self, session: str, code: str, **body: Any) -> dict[str, Any]:
        return await self.request_json("POST", f"/execute_code/{session}", json={"code": code, **body})


@asynccontextmanager
async def open_workspace(settings: Settings) -> AsyncIterator[Workspace]:
    app = create_app(settings, platform_factory=partial(open_platform, sessions=True))
    async with app.router.lifespan_context(app):
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with Workspace(transport=transport, base_url="http://127.0.0.1:8000", timeout=60) as client:
            client.platform = app.state.platform
            yield client


def settings_in(folder: str, **more: Any) -> Settings:
    return Settings(state_dir=folder, log_level="error", check_languages=False, **more)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def workspace(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Workspace]:
    folder = str(tmp_path_factory.mktemp("state"))
    async with open_workspace(settings_in(folder, max_request_bytes=300_000, session_file_max_bytes=8_000_000)) as client:
        yield client
