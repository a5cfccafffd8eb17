"""Failures of the platform never count against the program and never send a traceback."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from tests.api.servers import Client
from tests.engine.faulty import FaultyBackend

from sandbox_runtime.api.app import create_app
from sandbox_runtime.assembly import open_configured_backend, open_platform
from sandbox_runtime.settings import Settings


@pytest.fixture
def backend(tmp_path: Path) -> FaultyBackend:
    return FaultyBackend(open_configured_backend(Settings(state_dir=str(tmp_path), isolation="none")))


@pytest.fixture
async def client(backend: FaultyBackend) -> AsyncIterator[Client]:
    """No box is opened in advance, so every run uses the backend."""
    settings = Settings(check_languages=False, log_level="error")
    app = create_app(settings, platform_factory=lambda settings: open_platform(settings, backend_context=backend, prewarm=False))
    async with app.router.lifespan_context(app):
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with Client(transport=transport, base_url="http://127.0.0.1", timeout=60) as opened:
            opened.platform = app.state.platform
            await opened.run_code("print(1)")
            yield opened


@pytest.mark.requirement("fusion-1.11")
async def test_a_platform_that_fails_answers_sandbox_error(client: Client, backend: FaultyBackend) -> None:
    backend.failing = True
    answer = await client.run_code("print(1)")
    assert (answer["status"], answer["message"], answer["run_result"]) == ("SandboxError", "no boxes today", None)


async def test_an_unforeseen_error_is_a_sandbox_error_without_traceback(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    async def explode(job: object) -> None:
        raise KeyError("inner secret")

    monkeypatch.setattr(client.platform.engine, "run", explode)
    answer = await client.run_code("print(1)")
    assert answer["status"] == "SandboxError" and "internal error" in answer["message"]
    assert "secret" not in str(answer) and "Traceback" not in str(answer)


@pytest.mark.requirement("fusion-1.14")
async def test_an_unforeseen_error_elsewhere_is_500_without_traceback(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def explode() -> None:
        raise KeyError("inner secret")

    monkeypatch.setattr(client.platform.metrics, "exposition", explode)
    answer = await client.get("/metrics")
    assert answer.status_code == 500
    assert answer.json()["traceback"] == [answer.json()["detail"]]
    assert "secret" not in answer.text and "Traceback" not in answer.text


async def test_health_says_failing_while_no_box_can_be_opened(tmp_path: Path) -> None:
    backend = FaultyBackend(open_configured_backend(Settings(state_dir=str(tmp_path), isolation="none")))
    backend.failing = True
    app = create_app(
        Settings(pool_size=1, check_languages=False, log_level="error"),
        platform_factory=lambda settings: open_platform(settings, backend_context=backend),
    )
    talking = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1")
    async with asyncio.timeout(30), app.router.lifespan_context(app), talking as client:
        while backend.refused == 0:
            await asyncio.sleep(0.01)
        answer = await client.get("/health")
    assert (answer.status_code, answer.json()["status"], answer.json()["reason"]) == (503, "failing", "no boxes today")


@pytest.mark.requirement("fusion-5.02")
async def test_the_answer_says_that_there_is_no_isolation(client: Client) -> None:
    assert "NO ISOLATION" in (await client.run_code("print(1)"))["run_result"]["details"]["isolation"]
