"""Clients of a server with sessions."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import httpx
from tests.api.servers import listening

from sandbox_runtime.api.app import create_app
from sandbox_runtime.assembly import Platform, open_platform
from sandbox_runtime.settings import Settings

TEMPLATE = "python-basic"


class ControlPlaneClient(httpx.AsyncClient):
    platform: Platform

    async def session(self, **fields: Any) -> dict[str, Any]:
        answer = await self.post("/api/v1/sessions", json={"template_id": TEMPLATE, **fields})
        assert answer.status_code == 201, answer.text
        return dict(answer.json())

    async def run(self, session_id: str, code: str, language: str = "python", **fields: Any) -> dict[str, Any]:
        path = f"/api/v1/executions/sessions/{session_id}/execute-sync"
        answer = await self.post(path, json={"code": code, "language": language, **fields})
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    async def submit(self, session_id: str, code: str, language: str = "python", **fields: Any) -> str:
        path = f"/api/v1/executions/sessions/{session_id}/execute"
        answer = await self.post(path, json={"code": code, "language": language, **fields})
        assert answer.status_code == 201, answer.text
        return str(answer.json()["execution_id"])


@contextlib.asynccontextmanager
async def in_process_client(settings: Settings) -> AsyncIterator[ControlPlaneClient]:
    app = create_app(settings, platform_factory=partial(open_platform, sessions=True))
    async with app.router.lifespan_context(app):
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with ControlPlaneClient(transport=transport, base_url="http://127.0.0.1:8000", timeout=60) as client:
            client.platform = app.state.platform
            yield client


@contextlib.asynccontextmanager
async def network_client(settings: Settings) -> AsyncIterator[ControlPlaneClient]:
    """Return a client that uses a real connection."""
    async with listening(settings, sessions=True) as server, ControlPlaneClient(base_url=server.url, timeout=60) as client:
        client.platform = server.platform
        yield client
