"""Requests that browsers send for pages of other sites."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
import pytest_asyncio
from tests.api.servers import Client, serving
from tests.api.workspace.conftest import Workspace, open_workspace, settings_in

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
    """Also if a server listens on all addresses by its own flags, whatever the host name."""
    app = create_app(Settings(state_dir=str(tmp_path)))
    transport = httpx.ASGITransport(app, client=(address, 4000))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        assert (await client.get("/no-such-path")).status_code == (403 if foreign else 404)


CREATES = "/workspace/se/status/made-by-a-link"
CROSS_SITE = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
CONSOLE = "https://console.example.org"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tmp_path_factory.mktemp("state"))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def workspace(folder: str) -> AsyncIterator[Workspace]:
    """A server with sessions and without keys."""
    async with open_workspace(settings_in(folder, cors_origins=(CONSOLE,))) as opened:
        yield opened


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
@pytest.mark.parametrize("mode", ["navigate", "no-cors"])
async def test_a_link_on_another_site_creates_nothing(workspace: Workspace, site: str, mode: str) -> None:
    """Links and images send no Origin."""
    answer = await workspace.get(CREATES, headers={"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode})
    assert answer.status_code == 403 and "Sec-Fetch-Site" in answer.text
    assert (await workspace.request_json("GET", "/workspaces"))["workspaces"] == {}


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE"])
@pytest.mark.parametrize("path", ["/run_code", "/api/v1/sessions", "/api/v2/sandboxes", "/metrics", "/mcp", "/no-such-path"])
async def test_nothing_that_acts_is_reached_from_another_site(workspace: Workspace, method: str, path: str) -> None:
    assert (await workspace.request(method, path, headers=CROSS_SITE)).status_code == 403


@pytest.mark.parametrize("path", ["/", "/SandboxFusion/", "/playground/", "/docs", "/health", "/v1/ping"])
async def test_pages_can_be_opened_from_links_of_other_sites(workspace: Workspace, path: str) -> None:
    assert (await workspace.get(path, headers=CROSS_SITE)).status_code == 200


@pytest.mark.parametrize("site", ["same-origin", "none"])
async def test_the_user_and_the_server_s_own_pages_are_served(workspace: Workspace, site: str) -> None:
    headers = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "navigate"}
    assert (await workspace.get("/workspace/se/workspaces", headers=headers)).status_code == 200


@pytest.mark.parametrize("origin", [CONSOLE, "http://localhost:3000"])
async def test_origins_that_are_allowed_stay_so_across_sites(workspace: Workspace, origin: str) -> None:
    headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors", "Origin": origin}
    assert (await workspace.post("/run_code", json=JOB, headers=headers)).status_code == 200


KEY = {"X-API-Key": "the-operators-own"}


@pytest.mark.parametrize(
    ("origins", "origin", "status"),
    [
        (("*",), "https://example.org", 200),
        ((CONSOLE,), CONSOLE, 200),
        ((CONSOLE,), "https://example.org", 403),
        ((CONSOLE,), None, 403),
    ],
)
async def test_a_server_with_keys_serves_the_sites_of_its_settings(
    origins: tuple[str, ...], origin: str | None, status: int, tmp_path: Path
) -> None:
    settings = Settings(state_dir=str(tmp_path), api_key=KEY["X-API-Key"], cors_origins=origins, log_level="error")
    headers = {**KEY, "Sec-Fetch-Site": "cross-site", **({"Origin": origin} if origin else {})}
    async with serving(settings) as client:
        assert (await client.get("/metrics", headers=headers)).status_code == status


async def test_a_signed_address_may_stand_in_a_page_of_another_site(workspace: Workspace) -> None:
    """The route checks its token."""
    answer = await workspace.get("/api/v1/signed-files/x.y", headers=CROSS_SITE)
    assert answer.status_code == 403 and "Sec-Fetch-Site" not in answer.text
