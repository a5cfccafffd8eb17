"""The app with its platform open, and a client that talks to it."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx

from sandbox_runtime.api.app import create_app
from sandbox_runtime.assembly import Platform
from sandbox_runtime.settings import Settings


class Client(httpx.AsyncClient):
    platform: Platform

    async def run_code(self, code: str, language: str = "python", **fields: Any) -> dict[str, Any]:
        answer = await self.post("/run_code", json={"code": code, "language": language, **fields})
        assert answer.status_code == 200, answer.text
        return dict(answer.json())


@asynccontextmanager
async def serving(settings: Settings) -> AsyncIterator[Client]:
    app = create_app(settings)
    async with app.router.lifespan_context(app):
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with Client(transport=transport, base_url="http://127.0.0.1:8080", timeout=60) as client:
            client.platform = app.state.platform
            yield client


def b64(content: bytes) -> str:
    return base64.b64encode(content).decode()
