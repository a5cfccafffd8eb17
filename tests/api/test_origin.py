"""Pages of other sites, whose scripts a browser would let talk to this machine."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest
from tests.api.servers import Client

from sandbox_runtime.api.app import create_app
from sandbox_runtime.settings import Settings

pytestmark = pytest.mark.asyncio(loop_scope="module")

JOB = {"code": "print(1)", "language": "python"}


@pytest.mark.parametrize("origin", ["https://example.org", "null", "http://127.0.0.1.example.org", "garbage"])
async def test_a_page_of_another_site_cannot_use_a_server_without_a_key(client: Client, origin: str) -> None:
    answer = await client.post("/run_code", json=JOB, headers={"Origin": origin})
    assert answer.status_code == 403


@pytest.mark.parametrize("origin", ["http://localhost:3000", "http://127.0.0.1:8080", "http://[::1]"])
async def test_a_page_of_this_machine_can(client: Client, origin: str) -> None:
    assert (await client.post("/run_code", json=JOB, headers={"Origin": origin})).status_code == 200


@pytest.mark.parametrize("host", ["127.0.0.1:8080", "localhost", "LOCALHOST:80", "[::1]:8080", "box.localhost"])
async def test_a_server_without_a_key_answers_to_names_of_this_machine(client: Client, host: str) -> None:
    assert (await client.get("/health", headers={"Host": host})).status_code == 200


@pytest.mark.requirement("control_plane-9.09")
@pytest.mark.parametrize("host", ["example.org", "127.0.0.1.example.org", "localhost.example.org", "0.0.0.0", "", "[", "a b"])
async def test_a_name_that_was_made_to_point_here_opens_nothing(client: Client, host: str) -> None:
    answer = await client.post("/run_code", json=JOB, headers={"Host": host})
    assert answer.status_code == 403 and "allowed_hosts" in answer.text


@pytest.mark.parametrize(
    ("address", "foreign"),
    [
        *((near, False) for near in ("127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1", "")),
        *((far, True) for far in ("10.0.0.5", "203.0.113.9", "::ffff:10.0.0.5", "fe80::1", "0.0.0.0")),
    ],
)
async def test_without_keys_only_this_machine_is_served(address: str, foreign: bool, tmp_path: Path) -> None:
    """Also where a server listens on every address by its own flags, and whatever name the request has for it."""
    app = create_app(Settings(state_dir=str(tmp_path)))
    transport = httpx.ASGITransport(app, client=(address, 4000))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        assert (await client.get("/no-such-path")).status_code == (403 if foreign else 404)
