"""Keys of the store: access, separation of owners, and limits."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from tests.api.control_plane.clients import TEMPLATE, ControlPlaneClient, in_process_client
from tests.api.keys import new_key

from sandbox_runtime.api.middleware.keyring import CACHE_S, Keyring
from sandbox_runtime.settings import Settings

pytestmark = pytest.mark.asyncio(loop_scope="module")

SESSIONS = "/api/v1/sessions"
OPERATOR = {"X-API-Key": "the-operators-own"}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def guarded(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[ControlPlaneClient]:
    settings = Settings(
        state_dir=str(tmp_path_factory.mktemp("state")),
        host="0.0.0.0",
        api_key="the-operators-own",
        internal_api_token="internal",
        check_languages=False,
        log_level="error",
    )
    async with in_process_client(settings) as opened:
        yield opened


async def make(client: ControlPlaneClient, headers: dict[str, str], **fields: Any) -> dict[str, Any]:
    answer = await client.post(SESSIONS, json={"template_id": TEMPLATE, **fields}, headers=headers)
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


@pytest.mark.requirement("control_plane-9.05")
async def test_a_key_of_the_store_opens_every_door(guarded: ControlPlaneClient) -> None:
    alice = await new_key(guarded.platform, "alice")
    assert (await guarded.get(SESSIONS, headers=alice)).status_code == 200
    assert (await guarded.post("/run_code", json={"code": "print(1)", "language": "python"}, headers=alice)).status_code == 200
    as_header = {"X-API-Key": alice["Authorization"].removeprefix("Bearer ")}
    assert (await guarded.get(SESSIONS, headers=as_header)).status_code == 200


@pytest.mark.requirement("control_plane-9.05")
@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer sbx_guess"},
        {"X-API-Key": "x" * 600},
        {"Authorization": "Bearer "},
        {"X-API-Key": "internal"},
    ],
)
async def test_without_a_key_that_is_known_nothing_is_served(guarded: ControlPlaneClient, headers: dict[str, str]) -> None:
    for path in (SESSIONS, "/api/v1/templates", "/api/v1/runtimes", "/api/v1/health/detailed", "/runtime/health", "/metrics"):
        assert (await guarded.get(path, headers=headers)).status_code == 401, path
    assert (await guarded.get("/api/v1/health", headers=headers)).status_code == 200


@pytest.mark.requirement("control_plane-9.05")
async def test_keys_that_are_over_open_nothing(guarded: ControlPlaneClient) -> None:
    now_ms = time.time_ns() // 1_000_000
    for fields in ({"revoked_ms": now_ms}, {"expires_ms": now_ms - 1}):
        key = await new_key(guarded.platform, "mallory", **fields)
        assert (await guarded.get(SESSIONS, headers=key)).status_code == 401


@pytest.mark.requirement("control_plane-9.06")
async def test_another_owner_s_session_does_not_exist(guarded: ControlPlaneClient) -> None:
    alice, bob = await new_key(guarded.platform, "alice"), await new_key(guarded.platform, "bob")
    session = (await make(guarded, alice))["id"]
    run = {"code": "open('secret.txt', 'w').write('x')", "language": "python"}
    path = f"/api/v1/executions/sessions/{session}/execute-sync"
    execution = (await guarded.post(path, json=run, headers=alice)).json()["id"]
    context = (await guarded.post(f"{SESSIONS}/{session}/contexts", headers=alice)).json()["id"]
    requests: list[tuple[str, str, Any]] = [
        ("GET", f"{SESSIONS}/{session}", None),
        ("POST", f"{SESSIONS}/{session}/terminate", None),
        ("DELETE", f"{SESSIONS}/{session}", None),
        ("POST", f"{SESSIONS}/{session}/fork", None),
        ("POST", f"{SESSIONS}/{session}/execute", run),
        ("POST", path, run),
        ("GET", f"{SESSIONS}/{session}/executions", None),
        ("GET", f"{SESSIONS}/{session}/result", None),
        ("POST", f"{SESSIONS}/{session}/dependencies/install", {"dependencies": [{"name": "numpy"}]}),
        ("GET", f"/api/v1/executions/{execution}", None),
        ("GET", f"/api/v1/executions/{execution}/stream", None),
        ("POST", f"/api/v1/executions/{execution}/cancel", None),
        ("GET", f"{SESSIONS}/{session}/files", None),
        ("GET", f"{SESSIONS}/{session}/files/secret.txt", None),
        ("DELETE", f"{SESSIONS}/{session}/files/secret.txt", None),
        ("GET", f"{SESSIONS}/{session}/archive", None),
        ("GET", f"{SESSIONS}/{session}/contexts", None),
        ("POST", f"{SESSIONS}/{session}/contexts", None),
        ("POST", f"{SESSIONS}/{session}/contexts/{context}/execute", {"code": "1"}),
        ("DELETE", f"{SESSIONS}/{session}/contexts/{context}", None),
        ("GET", f"/api/v1/containers/sandbox-{session}", None),
        ("GET", f"/api/v1/containers/sandbox-{session}/logs", None),
        ("GET", f"/runtime/sessions/{session}/status", None),
    ]
    for method, address, body in requests:
        answer = await guarded.request(method, address, json=body, headers=bob)
        assert answer.status_code == 404, (method, address, answer.text)
    assert session not in (await guarded.get(SESSIONS, headers=bob)).text
    assert session not in (await guarded.get("/api/v1/containers", headers=bob)).text
    assert (await guarded.get(f"{SESSIONS}/{session}", headers=alice)).json()["status"] == "running"


@pytest.mark.requirement("control_plane-9.06")
async def test_an_admin_and_the_operator_see_everything(guarded: ControlPlaneClient) -> None:
    alice, admin = await new_key(guarded.platform, "alice"), await new_key(guarded.platform, "chief", "admin")
    session = (await make(guarded, alice))["id"]
    for headers in (admin, OPERATOR):
        assert (await guarded.get(f"{SESSIONS}/{session}", headers=headers)).status_code == 200


@pytest.mark.requirement("control_plane-9.06")
async def test_what_all_share_is_changed_by_admins_alone(guarded: ControlPlaneClient) -> None:
    alice = await new_key(guarded.platform, "alice")
    template = {"id": "shared", "name": "Shared", "image_url": "x", "runtime_type": "python3.11"}
    requests: list[tuple[str, str, Any]] = [
        ("POST", "/api/v1/templates", template),
        ("PUT", f"/api/v1/templates/{TEMPLATE}", {"name": "Mine now"}),
        ("DELETE", f"/api/v1/templates/{TEMPLATE}", None),
        ("POST", "/api/v1/health/sync", None),
        ("GET", "/api/v1/audit", None),
    ]
    for method, address, body in requests:
        assert (await guarded.request(method, address, json=body, headers=alice)).status_code == 403, address
    assert (await guarded.post("/api/v1/templates", json=template, headers=OPERATOR)).status_code == 201


async def test_a_key_that_may_only_look_changes_nothing(guarded: ControlPlaneClient) -> None:
    key = await new_key(guarded.platform, "carol", "read")
    assert (await guarded.get(SESSIONS, headers=key)).status_code == 200
    answer = await guarded.post(SESSIONS, json={"template_id": TEMPLATE}, headers=key)
    assert answer.status_code == 403 and (await guarded.get(SESSIONS, headers=key)).json()["total"] == 0


@pytest.mark.requirement("control_plane-9.07")
async def test_a_key_has_so_many_requests_a_minute(guarded: ControlPlaneClient) -> None:
    key = await new_key(guarded.platform, "dora", "rate:3")
    answers = [await guarded.get(SESSIONS, headers=key) for _ in range(5)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429, 429]
    assert int(answers[-1].headers["Retry-After"]) >= 1
    assert (await guarded.get(SESSIONS, headers=OPERATOR)).status_code == 200


@pytest.mark.requirement("control_plane-9.07")
async def test_a_key_has_so_many_sessions(guarded: ControlPlaneClient) -> None:
    key = await new_key(guarded.platform, "erin", "sessions:2")
    first = await make(guarded, key)
    await make(guarded, key)
    refused = await guarded.post(SESSIONS, json={"template_id": TEMPLATE}, headers=key)
    assert refused.status_code == 429 and refused.json()["error_code"] == "Sandbox.TooManyRequestsExection"
    assert refused.headers["Retry-After"]
    fork = await guarded.post(f"{SESSIONS}/{first['id']}/fork", headers=key)
    assert fork.status_code == 429
    await guarded.post(f"{SESSIONS}/{first['id']}/terminate", headers=key)
    await make(guarded, key)


@pytest.mark.requirement("control_plane-9.08")
async def test_changes_name_who_made_them(guarded: ControlPlaneClient) -> None:
    key = await new_key(guarded.platform, "frank")
    session = (await make(guarded, key))["id"]
    await guarded.delete(f"{SESSIONS}/{session}", headers=key)
    entries = (await guarded.get("/api/v1/audit", params={"subject": session}, headers=OPERATOR)).json()["items"]
    assert [(entry["action"], entry["actor"], entry["owner"]) for entry in entries] == [
        ("delete", "frank", "frank"),
        ("terminated", "frank", "frank"),
        ("create", "frank", "frank"),
    ]


async def test_when_a_key_was_used_is_noted(guarded: ControlPlaneClient) -> None:
    key = await new_key(guarded.platform, "grace")
    await guarded.get(SESSIONS, headers=key)
    stored = (await guarded.platform.sessions.store.keys.list()).items
    assert next(stored_key for stored_key in stored if stored_key.owner == "grace").last_used_ms


async def test_a_page_of_any_site_may_ask_with_a_key(guarded: ControlPlaneClient) -> None:
    requests = {"Origin": "https://console.example.org", "Access-Control-Request-Method": "POST"}
    requests["Access-Control-Request-Headers"] = "authorization"
    preflight = await guarded.options(SESSIONS, headers=requests)
    assert preflight.status_code == 200 and preflight.headers["Access-Control-Allow-Origin"] == "*"
    key = await new_key(guarded.platform, "heidi")
    answer = await guarded.get(SESSIONS, headers={**key, "Origin": "https://console.example.org"})
    assert answer.headers["Access-Control-Allow-Origin"] == "*" and "Access-Control-Allow-Credentials" not in answer.headers


async def test_a_signed_address_opens_one_file_and_nothing_else(guarded: ControlPlaneClient) -> None:
    key = await new_key(guarded.platform, "ivan")
    session = (await make(guarded, key))["id"]
    await guarded.put(f"{SESSIONS}/{session}/files/a.txt", content=b"mine", headers=key)
    answer = await guarded.get(f"{SESSIONS}/{session}/files/a.txt", params={"redirect": True}, headers=key)
    address = answer.headers["Location"]
    assert (await guarded.get(address)).content == b"mine"
    for odd in ("x", "x.y", "%00.%00", "é.é", "A" * 9000):
        assert (await guarded.get(f"/api/v1/signed-files/{odd}")).status_code == 403, odd


class _NoKeys:
    def __init__(self) -> None:
        self.asked = 0

    async def find_by_digest(self, digest: str) -> None:
        self.asked += 1

    async def record_use(self, uses: Any) -> None:
        raise AssertionError("nothing was used")


async def test_a_key_is_looked_up_once_in_a_while_and_not_at_every_request() -> None:
    now = 100.0
    keys, ring = _NoKeys(), Keyring("", clock=lambda: now)
    for _ in range(10):
        assert await ring.caller(b"guess", keys) is None
    assert keys.asked == 1
    now += CACHE_S
    assert await ring.caller(b"guess", keys) is None
    assert keys.asked == 2
