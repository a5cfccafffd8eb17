"""Fast routes validate requests as the FastAPI routes they are derived from."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio

from sandbox_runtime.api.app import create_app
from sandbox_runtime.api.dialects.control_plane import router
from sandbox_runtime.settings import Settings

RUN = {"code": "print(1)", "language": "python"}
SYNC = "/api/v1/executions/sessions/s/execute-sync"


@pytest_asyncio.fixture(params=["fast", "plain"])
async def client(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Any]:
    """No platform is open: invalid requests are rejected before it is needed."""
    if request.param == "plain":
        monkeypatch.setattr(router, "dialect", dataclasses.replace(router.dialect, fast_routes=()))
    app = create_app(Settings(state_dir=str(tmp_path)))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1:8080") as opened:
        yield opened


def test_every_fast_route_is_a_documented_route() -> None:
    assert {getattr(route, "path", "") for route in router.dialect.fast_routes} == {
        "/api/v1/sessions",
        "/api/v1/sessions/{session_id}/execute",
        "/api/v1/sessions/{session_id}/contexts/{context_id}/execute",
        "/api/v1/executions/sessions/{session_id}/execute",
        SYNC.replace("/s/", "/{session_id}/"),
    }


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        (f"{SYNC}?sync_timeout=nan", RUN, ["query", "sync_timeout"]),
        (f"{SYNC}?sync_timeout=9", RUN, ["query", "sync_timeout"]),
        (f"{SYNC}?sync_timeout=soon", RUN, ["query", "sync_timeout"]),
        (f"{SYNC}?poll_interval=0.01", RUN, ["query", "poll_interval"]),
        (SYNC, {"language": "python"}, ["body", "code"]),
        (SYNC, {**RUN, "timeout": True}, ["body"]),
        ("/api/v1/sessions/s/contexts/c/execute?wait=maybe", {"code": "1"}, ["query", "wait"]),
        ("/api/v1/sessions/s/execute", {**RUN, "timeout": 0}, ["body", "timeout"]),
        ("/api/v1/executions/sessions/s/execute", {**RUN, "env_vars": []}, ["body", "env_vars"]),
        ("/api/v1/sessions", {}, ["body", "template_id"]),
    ],
)
async def test_an_invalid_field_is_422(client: httpx.AsyncClient, path: str, body: Any, field: list[str]) -> None:
    answer = await client.post(path, json=body)
    assert answer.status_code == 422, answer.text
    assert [problem["loc"] for problem in answer.json()["detail"]] == [field]
    assert answer.headers["X-Request-ID"] and answer.headers["X-Process-Time"]
