"""Access: keys, and pages of other sites."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
import pytest_asyncio
from tests.api.servers import Client, serving

from sandbox_runtime.api.app import create_app
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.settings import Settings

pytestmark = pytest.mark.asyncio(loop_scope="module")

JOB = {"code": "print(1)", "language": "python"}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def guarded(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Client]:
    settings = Settings(
        state_dir=str(tmp_path_factory.mktemp("state")),
        host="0.0.0.0",
        api_key="s3cret",
        check_languages=False,
        log_level="error",
    )
    async with serving(settings) as opened:
        yield opened


@pytest.mark.parametrize(
    "headers", [{"Authorization": "Bearer s3cret"}, {"authorization": "bearer s3cret"}, {"X-API-Key": "s3cret"}]
)
async def test_the_right_key_is_let_in(guarded: Client, headers: dict[str, str]) -> None:
    assert (await guarded.post("/run_code", json=JOB, headers=headers)).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer wrong"},
        {"Authorization": "s3cret"},
        {"Authorization": "Basic s3cret"},
        {"X-API-Key": ""},
        {"X-API-Key": "s3cre"},
    ],
)
@pytest.mark.parametrize("path", ["/run_code", "/metrics", "/", "/docs", "/openapi.json", "/nothing"])
async def test_without_the_right_key_nothing_is_served(guarded: Client, headers: dict[str, str], path: str) -> None:
    answer = await guarded.post(path, json=JOB, headers=headers)
    assert answer.status_code == 401 and "s3cret" not in answer.text


@pytest.mark.parametrize("path", ["/health", "/v1/ping"])
async def test_health_and_ping_need_no_key(guarded: Client, path: str) -> None:
    assert (await guarded.get(path)).status_code == 200


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.org"])
async def test_an_exposed_server_without_a_key_is_not_started(host: str) -> None:
    with pytest.raises(InvalidRequest, match="api_key"):
        create_app(Settings(host=host))


async def test_with_a_key_any_page_can(guarded: Client) -> None:
    headers = {"Origin": "https://example.org", "X-API-Key": "s3cret"}
    assert (await guarded.post("/run_code", json=JOB, headers=headers)).status_code == 200


async def test_keys_of_the_store_let_a_server_be_exposed(tmp_path: Path) -> None:
    create_app(Settings(host="0.0.0.0", require_keys=True, state_dir=str(tmp_path)))


async def test_required_keys_are_asked_for_on_loopback_too(tmp_path: Path) -> None:
    settings = Settings(state_dir=str(tmp_path), require_keys=True, check_languages=False, log_level="error")
    async with serving(settings) as client:
        assert (await client.post("/run_code", json=JOB)).status_code == 401
        assert (await client.post("/run_code", json=JOB, headers={"X-API-Key": ""})).status_code == 401


@pytest.mark.parametrize(
    ("host", "status"),
    [("sandbox.example.org", 200), ("a.example.net", 200), ("example.net", 403), ("evil.org", 403), ("localhost", 200)],
)
async def test_named_hosts_are_the_only_ones(tmp_path: Path, host: str, status: int) -> None:
    allowed = ("sandbox.example.org", "*.example.net")
    app = create_app(Settings(state_dir=str(tmp_path), api_key="k", allowed_hosts=allowed))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=f"http://{host}") as client:
        assert (await client.get("/v1/ping")).status_code == status
